#include "search/recent.h"

#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/varint.h"
#include "search/row_cache.h"

#define FIRST_SLOTS_SHIFT 6 /* a first chunk of 64 slots, each next one as large as all before it */
#define SLOT_CHUNKS 26
#define FIRST_TERMS 64
#define NOWHERE UINT64_MAX

/* Postings, from the first; each chunk is four times the one before. */
typedef struct recent_chunk {
    _Atomic(struct recent_chunk *) next;
    uint32_t cap;
    recent_posting items[];
} chunk;

typedef struct list {
    _Atomic(chunk *) first;
    _Atomic(uint32_t) count;
    /* The writer's. */
    chunk *last;
    uint32_t used; /* of it */
} list;

typedef struct entry {
    recent_term term;
    list shown, hidden;
} entry;

/* Entries by hash, in the first free cell after their own. */
typedef struct term_table {
    struct term_table *older;
    uint64_t mask;
    _Atomic(entry *) cells[];
} term_table;

/* Slots by id, or by segment and place: the last one made, 0: none. The writer's. */
typedef struct slot_map {
    uint64_t *cells; /* slot + 1 */
    uint64_t mask;
    uint32_t count;
} slot_map;

/* Hidden documents by segment and place, for everybody: the last slot made for each. */
typedef struct hidden_table {
    struct hidden_table *older;
    uint64_t mask;
    _Atomic(uint32_t) cells[]; /* slot + 1 */
} hidden_table;

struct recent {
    _Atomic(long) references;
    arena memory;
    _Atomic(size_t) bytes;
    _Atomic(term_table *) terms;
    uint32_t term_count;
    _Atomic(recent_slot *) slots[SLOT_CHUNKS];
    _Atomic(uint32_t) slot_count;
    slot_map ids;
    _Atomic(hidden_table *) hidden;
    uint32_t hidden_count;

    /* What the block under way did. */
    uint64_t block;
    uint32_t block_first; /* slot */
    uint32_t *taken;      /* slots it took away */
    uint32_t taken_count, taken_cap;
};

/* ---- memory ---- */

static void *room(recent *r, size_t len)
{
    void *bytes = arena_alloc(&r->memory, len);

    if (bytes)
        atomic_fetch_add_explicit(&r->bytes, len, memory_order_relaxed);
    return bytes;
}

static term_table *term_table_new(uint64_t cells, term_table *older)
{
    term_table *t = memory_zeroed(sizeof *t + cells * sizeof *t->cells);

    if (t) {
        t->mask = cells - 1;
        t->older = older;
    }
    return t;
}

recent *recent_new(void)
{
    recent *r = memory_zeroed(sizeof *r);
    term_table *t = r ? term_table_new(FIRST_TERMS, NULL) : NULL;

    if (!t) {
        memory_free(r);
        return NULL;
    }
    arena_init(&r->memory);
    atomic_init(&r->references, 1);
    atomic_init(&r->terms, t);
    return r;
}

recent *recent_keep(recent *r)
{
    atomic_fetch_add_explicit(&r->references, 1, memory_order_relaxed);
    return r;
}

void recent_drop(recent *r)
{
    if (!r || atomic_fetch_sub_explicit(&r->references, 1, memory_order_acq_rel) != 1)
        return;
    for (term_table *t = atomic_load(&r->terms); t;) {
        term_table *older = t->older;
        memory_free(t);
        t = older;
    }
    for (hidden_table *t = atomic_load(&r->hidden); t;) {
        hidden_table *older = t->older;
        memory_free(t);
        t = older;
    }
    arena_clear(&r->memory);
    memory_free(r->ids.cells);
    memory_free(r->taken);
    memory_free(r);
}

uint32_t recent_slots(const recent *r)
{
    return atomic_load_explicit(&r->slot_count, memory_order_acquire);
}

size_t recent_bytes(const recent *r)
{
    return atomic_load_explicit(&r->bytes, memory_order_relaxed);
}

/* ---- slots ---- */

static recent_slot *slot_at(const recent *r, uint32_t slot)
{
    uint64_t n = (uint64_t)slot + (1u << FIRST_SLOTS_SHIFT);
    int top = 63 - __builtin_clzll(n);

    return atomic_load_explicit(&r->slots[top - FIRST_SLOTS_SHIFT], memory_order_acquire) + (n - ((uint64_t)1 << top));
}

const recent_slot *recent_slot_at(const recent *r, uint32_t slot)
{
    return slot_at(r, slot);
}

static uint64_t mix(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15u;
    return key ^ key >> 29;
}

/* The cell of the slots of an id. */
static uint64_t *id_cell(const recent *r, const slot_map *m, int64_t id)
{
    for (uint64_t i = mix((uint64_t)id) & m->mask;; i = (i + 1) & m->mask)
        if (!m->cells[i] || slot_at(r, (uint32_t)(m->cells[i] - 1))->id == id)
            return &m->cells[i];
}

static bool ids_make_room(recent *r)
{
    slot_map *m = &r->ids, grown = {.mask = m->cells ? m->mask * 2 + 1 : 127, .count = m->count};

    if (m->cells && (uint64_t)m->count * 2 <= m->mask)
        return true;
    grown.cells = memory_zeroed((grown.mask + 1) * sizeof *grown.cells);
    if (!grown.cells)
        return false;
    for (uint64_t i = 0; m->cells && i <= m->mask; i++)
        if (m->cells[i])
            *id_cell(r, &grown, slot_at(r, (uint32_t)(m->cells[i] - 1))->id) = m->cells[i];
    memory_free(m->cells);
    *m = grown;
    return true;
}

/* Room for one more slot. */
static bool slots_make_room(recent *r)
{
    uint64_t n = (uint64_t)atomic_load(&r->slot_count) + (1u << FIRST_SLOTS_SHIFT);
    int top = 63 - __builtin_clzll(n), place = top - FIRST_SLOTS_SHIFT;

    if (place >= SLOT_CHUNKS)
        return false;
    if (atomic_load(&r->slots[place]))
        return true;
    recent_slot *fresh = room(r, ((size_t)1 << top) * sizeof *fresh);
    if (!fresh)
        return false;
    atomic_store_explicit(&r->slots[place], fresh, memory_order_release);
    return true;
}

static void note_block(recent *r, uint64_t block)
{
    if (r->block == block)
        return;
    r->block = block;
    r->block_first = atomic_load(&r->slot_count);
    r->taken_count = 0;
}

static bool taken_make_room(recent *r)
{
    if (r->taken_count < r->taken_cap)
        return true;
    uint32_t cap = r->taken_cap ? r->taken_cap * 2 : 16;
    uint32_t *more = memory_resize(r->taken, cap * sizeof *more);
    if (!more)
        return false;
    r->taken = more;
    r->taken_cap = cap;
    return true;
}

void recent_undo(recent *r, uint64_t block)
{
    if (r->block != block)
        return;
    for (uint32_t i = 0; i < r->taken_count; i++)
        atomic_store(&slot_at(r, r->taken[i])->taken, NOWHERE);
    for (uint32_t i = r->block_first; i < atomic_load(&r->slot_count); i++) {
        recent_slot *s = slot_at(r, i);
        atomic_store(&s->taken, s->made);
    }
    r->taken_count = 0;
    r->block_first = atomic_load(&r->slot_count);
}

/* ---- terms ---- */

static entry *find_entry(const uint8_t *bytes, size_t len, uint64_t hash, term_table *t, uint64_t *free_at)
{
    for (uint64_t i = hash & t->mask;; i = (i + 1) & t->mask) {
        entry *e = atomic_load_explicit(&t->cells[i], memory_order_acquire);
        if (!e) {
            *free_at = i;
            return NULL;
        }
        if (e->term.hash == hash && e->term.len == len && !memcmp(e->term.bytes, bytes, len))
            return e;
    }
}

const recent_term *recent_find(const recent *r, const uint8_t *bytes, size_t len, uint64_t hash)
{
    uint64_t unused;
    entry *e = find_entry(bytes, len, hash, atomic_load_explicit(&r->terms, memory_order_acquire), &unused);

    return e ? &e->term : NULL;
}

void recent_terms(const recent *r, recent_visit *visit, void *to)
{
    const term_table *t = atomic_load_explicit(&r->terms, memory_order_acquire);

    for (uint64_t i = 0; i <= t->mask; i++) {
        const entry *e = atomic_load_explicit(&t->cells[i], memory_order_acquire);
        if (e && !visit(to, &e->term))
            return;
    }
}

static term_table *grow_terms(recent *r)
{
    term_table *old = atomic_load(&r->terms), *grown = term_table_new((old->mask + 1) * 4, old);

    if (!grown)
        return NULL;
    for (uint64_t i = 0; i <= old->mask; i++) {
        entry *e = atomic_load_explicit(&old->cells[i], memory_order_relaxed);
        uint64_t at = e ? e->term.hash & grown->mask : 0;
        while (e && atomic_load_explicit(&grown->cells[at], memory_order_relaxed))
            at = (at + 1) & grown->mask;
        if (e)
            atomic_store_explicit(&grown->cells[at], e, memory_order_relaxed);
    }
    atomic_fetch_add(&r->bytes, (grown->mask + 1) * sizeof grown->cells[0]);
    atomic_store_explicit(&r->terms, grown, memory_order_release);
    return grown;
}

static entry *make_entry(recent *r, const term *t)
{
    uint64_t hash = hash64(t->bytes, t->len), at;
    term_table *all = atomic_load_explicit(&r->terms, memory_order_relaxed);
    entry *e = find_entry(t->bytes, t->len, hash, all, &at);

    if (e)
        return e;
    if ((uint64_t)r->term_count * 2 > all->mask) {
        all = grow_terms(r);
        if (!all)
            return NULL;
        find_entry(t->bytes, t->len, hash, all, &at);
    }
    e = room(r, sizeof *e + t->len);
    if (!e)
        return NULL;
    memset(e, 0, sizeof *e);
    uint8_t *bytes = (uint8_t *)(e + 1);
    memcpy(bytes, t->bytes, t->len);
    e->term = (recent_term){.bytes = bytes, .len = t->len, .hash = hash};
    r->term_count++;
    atomic_store_explicit(&all->cells[at], e, memory_order_release);
    return e;
}

/* ---- adding ---- */

typedef struct adding {
    recent *r;
    uint32_t slot, length;
    bool hidden;
    buffer *distinct; /* NULL: nobody wants to know */
} adding;

static bool append(recent *r, list *l, recent_posting posting)
{
    chunk *last = l->last;

    if (!last || l->used == last->cap) {
        uint32_t cap = !last ? 1 : last->cap < 256 ? last->cap * 4 : 256;
        chunk *fresh = room(r, sizeof *fresh + cap * sizeof *fresh->items);
        if (!fresh)
            return false;
        fresh->cap = cap;
        atomic_init(&fresh->next, NULL);
        if (last)
            atomic_store_explicit(&last->next, fresh, memory_order_release);
        else
            atomic_store_explicit(&l->first, fresh, memory_order_release);
        l->last = last = fresh;
        l->used = 0;
    }
    last->items[l->used++] = posting;
    atomic_store_explicit(&l->count, atomic_load_explicit(&l->count, memory_order_relaxed) + 1, memory_order_release);
    return true;
}

static int add_term(void *to, const term *t, error *err)
{
    adding *a = to;
    entry *e = make_entry(a->r, t);
    list *l = !e ? NULL : a->hidden ? &e->hidden : &e->shown;

    if (!e)
        return fail_memory(err);
    if (a->length == UINT32_MAX)
        return fail(err, FENEC_QUERY, "a text has too many words to be indexed");
    a->length++;
    /* Nobody reads the count of a slot that is not seen yet. */
    recent_posting *last = l->last && l->used ? &l->last->items[l->used - 1] : NULL;
    if (last && last->slot == a->slot) {
        last->count++;
        return FENEC_OK;
    }
    if (a->distinct) {
        varint_put(a->distinct, t->len);
        buffer_put(a->distinct, t->bytes, t->len);
    }
    return append(a->r, l, (recent_posting){a->slot, t->count}) ? FENEC_OK : fail_memory(err);
}

/* The next slot, nobody's yet. */
static int begin_slot(recent *r, uint64_t block, const recent_slot *like, adding *a, error *err)
{
    note_block(r, block);
    if (!slots_make_room(r))
        return fail_memory(err);
    *a = (adding){.r = r, .slot = atomic_load(&r->slot_count), .hidden = like->segment != 0};
    recent_slot *s = slot_at(r, a->slot);
    s->id = like->id;
    s->segment = like->segment;
    s->made = block;
    atomic_init(&s->taken, block);
    return FENEC_OK;
}

/* A slot with postings is used up, whatever became of it, and so is one with a length. */
static void end_slot(adding *a, uint32_t length)
{
    slot_at(a->r, a->slot)->length = length;
    if (a->length || length)
        atomic_store_explicit(&a->r->slot_count, a->slot + 1, memory_order_release);
}

/* Adds the postings of a text in the next slot, which stays nobody's where that fails. */
static int add_text(recent *r, uint64_t block, const recent_slot *like, const analysis *how, const uint8_t *text,
                    size_t len, buffer *distinct, uint32_t *length, error *err)
{
    adding a;
    int rc = begin_slot(r, block, like, &a, err);

    if (rc)
        return rc;
    a.distinct = distinct;
    rc = analyse(how, text, len, add_term, &a, err);
    end_slot(&a, a.length);
    *length = a.length;
    return rc;
}

int recent_add(recent *r, uint64_t block, int64_t id, const analysis *how, const uint8_t *text, size_t len,
               uint32_t *length, error *err)
{
    const recent_slot like = {.id = id};
    uint32_t slot = atomic_load(&r->slot_count);

    if (!ids_make_room(r))
        return fail_memory(err);
    int rc = add_text(r, block, &like, how, text, len, NULL, length, err);
    if (rc || !*length)
        return rc;
    recent_slot *s = slot_at(r, slot);
    uint64_t *cell = id_cell(r, &r->ids, id);
    r->ids.count += *cell == 0;
    s->before = *cell;
    *cell = (uint64_t)slot + 1;
    atomic_store(&s->taken, NOWHERE);
    return FENEC_OK;
}

int recent_take(recent *r, uint64_t block, int64_t id, uint32_t *length, error *err)
{
    uint64_t at = r->ids.cells ? *id_cell(r, &r->ids, id) : 0;

    while (at && atomic_load(&slot_at(r, (uint32_t)(at - 1))->taken) != NOWHERE)
        at = slot_at(r, (uint32_t)(at - 1))->before;
    if (!at)
        return FN_END;
    note_block(r, block);
    if (!taken_make_room(r))
        return fail_memory(err);
    recent_slot *s = slot_at(r, (uint32_t)(at - 1));
    r->taken[r->taken_count++] = (uint32_t)(at - 1);
    atomic_store(&s->taken, block);
    *length = s->length;
    return FENEC_OK;
}

/* ---- hidden documents ---- */

static uint64_t place_hash(uint32_t segment, uint64_t place)
{
    return mix((uint64_t)segment << 32 ^ place);
}

/* The cell of a place: its last slot, or 0. */
static uint64_t hidden_cell(const recent *r, const hidden_table *t, uint32_t segment, uint64_t place)
{
    for (uint64_t i = place_hash(segment, place) & t->mask;; i = (i + 1) & t->mask) {
        uint32_t cell = atomic_load_explicit(&t->cells[i], memory_order_acquire);
        const recent_slot *s = cell ? slot_at(r, cell - 1) : NULL;
        if (!s || (s->segment == segment && (uint64_t)s->id == place))
            return i;
    }
}

static hidden_table *hidden_make_room(recent *r)
{
    hidden_table *old = atomic_load(&r->hidden);
    uint64_t cells = old ? (old->mask + 1) * 4 : 64;

    if (old && (uint64_t)r->hidden_count * 2 <= old->mask)
        return old;
    hidden_table *t = memory_zeroed(sizeof *t + cells * sizeof *t->cells);
    if (!t)
        return NULL;
    t->mask = cells - 1;
    t->older = old;
    for (uint64_t i = 0; old && i <= old->mask; i++) {
        uint32_t cell = atomic_load(&old->cells[i]);
        if (!cell)
            continue;
        const recent_slot *s = slot_at(r, cell - 1);
        atomic_store(&t->cells[hidden_cell(r, t, s->segment, (uint64_t)s->id)], cell);
    }
    atomic_fetch_add(&r->bytes, cells * sizeof t->cells[0]);
    atomic_store_explicit(&r->hidden, t, memory_order_release);
    return t;
}

bool recent_hides(const recent *r, uint64_t number, uint32_t segment, uint32_t place)
{
    const hidden_table *t = atomic_load_explicit(&r->hidden, memory_order_acquire);
    uint64_t at = t ? atomic_load_explicit(&t->cells[hidden_cell(r, t, segment, place)], memory_order_acquire) : 0;

    /* A place is hidden again where the block that hid it was put back. */
    while (at) {
        const recent_slot *s = slot_at(r, (uint32_t)(at - 1));
        if (recent_sees(s, number))
            return true;
        at = s->before;
    }
    return false;
}

/* Lets the slot that was made be known by its place. */
static void note_hidden(recent *r, hidden_table *t, uint32_t slot)
{
    recent_slot *s = slot_at(r, slot);
    uint64_t at = hidden_cell(r, t, s->segment, (uint64_t)s->id);
    uint32_t before = atomic_load(&t->cells[at]);

    r->hidden_count += before == 0;
    s->before = before;
    atomic_store(&s->taken, NOWHERE);
    atomic_store_explicit(&t->cells[at], slot + 1, memory_order_release);
}

int recent_hide(recent *r, uint64_t block, uint32_t segment, uint32_t place, const analysis *how,
                const uint8_t *text, size_t len, buffer *distinct, uint32_t *length, error *err)
{
    const recent_slot like = {.id = place, .segment = segment};
    uint32_t slot = atomic_load(&r->slot_count);
    hidden_table *t = hidden_make_room(r);

    if (!t)
        return fail_memory(err);
    int rc = add_text(r, block, &like, how, text, len, distinct, length, err);
    if (!rc && *length)
        note_hidden(r, t, slot);
    return rc;
}

int recent_hide_listed(recent *r, uint64_t block, uint32_t segment, uint32_t place, const uint8_t *distinct,
                       size_t len, uint32_t length, error *err)
{
    const recent_slot like = {.id = place, .segment = segment};
    const uint8_t *at = distinct, *end = distinct + len;
    hidden_table *t = hidden_make_room(r);
    adding a;
    int rc = t ? begin_slot(r, block, &like, &a, err) : fail_memory(err);

    if (rc)
        return rc;
    while (!rc && at < end) {
        uint64_t size;
        if (!varint_get(&at, end, &size) || size == 0 || size > (uint64_t)(end - at))
            rc = ROW_DAMAGED;
        else
            rc = add_term(&a, &(term){.bytes = at, .len = (size_t)size, .count = 1}, err);
        at += rc ? 0 : size;
    }
    end_slot(&a, length);
    if (!rc)
        note_hidden(r, t, a.slot);
    return rc;
}

/* ---- reading postings ---- */

void recent_open(recent_list *l, const recent *r, uint64_t number, const recent_term *t, bool hidden)
{
    const entry *e = (const entry *)t;
    const list *from = hidden ? &e->hidden : &e->shown;

    *l = (recent_list){.from = r, .number = number, .hidden = hidden};
    l->left = atomic_load_explicit(&from->count, memory_order_acquire);
    l->chunk = atomic_load_explicit(&from->first, memory_order_acquire);
}

bool recent_next(recent_list *l, recent_posting *out, const recent_slot **slot)
{
    while (l->left > 0) {
        if (l->at == l->chunk->cap) {
            l->chunk = atomic_load_explicit(&l->chunk->next, memory_order_acquire);
            l->at = 0;
        }
        const recent_posting *p = &l->chunk->items[l->at++];
        l->left--;
        const recent_slot *s = slot_at(l->from, p->slot);
        if (s->made > l->number) {
            l->left = 0;
            return false;
        }
        if (!recent_sees(s, l->number))
            continue;
        *out = *p;
        *slot = s;
        return true;
    }
    return false;
}

uint32_t recent_count(const recent *r, uint64_t number, const recent_term *t, bool hidden)
{
    recent_list l;
    recent_posting p;
    const recent_slot *s;
    uint32_t count = 0;

    for (recent_open(&l, r, number, t, hidden); recent_next(&l, &p, &s);)
        count++;
    return count;
}

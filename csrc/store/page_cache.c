#include "store/page_cache.h"

#include <string.h>

#include "base/memory.h"
#include "store/page_source.h"

static size_t count_places(const page_cache *p)
{
    return p->places ? ((size_t)p->mask + 1) * PAGE_CACHE_WAYS : 0;
}

void page_cache_begin(page_cache *p, const log_view *v)
{
    bool log_stays = v->state != LOG_PINNED || memcmp(p->salts, v->salts, LOG_SALTS) == 0;
    bool file_stays = p->folds == v->folds;

    if (log_stays && file_stays)
        return;
    for (size_t i = 0, count = count_places(p); i < count; i++)
        if (p->places[i].frame ? !log_stays : !file_stays)
            p->places[i].page = 0;
    p->folds = v->folds;
    if (!log_stays)
        memcpy(p->salts, v->salts, LOG_SALTS);
}

static bool make_places(page_cache *p)
{
    uint32_t sets = p->kib * 1024 / PAGE_BYTES / PAGE_CACHE_WAYS;

    p->places = sets ? memory_zeroed(sets * PAGE_CACHE_WAYS * sizeof *p->places) : NULL;
    p->mask = sets - 1;
    return p->places != NULL;
}

/* Whether a place makes room before another one. */
static bool goes_first(const page_cache *p, const cached_page *a, const cached_page *b)
{
    if (!a->page || !b->page)
        return !a->page && (b->page || (a->bytes && !b->bytes));
    if (a->inner != b->inner)
        return b->inner;
    return p->uses - a->used > p->uses - b->used;
}

cached_page *page_cache_find(page_cache *p, uint32_t page, uint32_t frame, bool *has)
{
    if (!p->places && !make_places(p))
        return NULL;
    cached_page *set = &p->places[((page * 0x9E3779B1u) >> 9 & p->mask) * PAGE_CACHE_WAYS], *at = set;

    p->uses++;
    *has = false;
    for (int i = 0; i < PAGE_CACHE_WAYS; i++) {
        if (set[i].page == page) {
            at = &set[i];
            *has = at->frame == frame;
            break;
        }
        if (goes_first(p, &set[i], at))
            at = &set[i];
    }
    at->used = p->uses;
    if (*has)
        return at;
    at->page = 0;
    if (!at->bytes) {
        at->bytes = memory_alloc(PAGE_BYTES + PAGE_SLACK);
        if (at->bytes)
            memset(at->bytes + PAGE_BYTES, 0, PAGE_SLACK);
    }
    return at->bytes ? at : NULL;
}

void page_cache_clear(page_cache *p)
{
    for (size_t i = 0, count = count_places(p); i < count; i++)
        memory_free(p->places[i].bytes);
    memory_free(p->places);
    *p = (page_cache){.kib = p->kib};
}

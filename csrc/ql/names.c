#include "ql/names.h"

#include <string.h>

#include "base/hash.h"

bool names_init(names *n, arena *a, size_t count)
{
    size_t slots = 4;

    while (slots < count * 2)
        slots *= 2;
    n->mask = slots - 1;
    n->slots = arena_zeroed(a, slots * sizeof *n->slots);
    return n->slots != NULL;
}

/* Where the name stands or would stand. */
static name_slot *slot_of(const names *n, const char *text, size_t len)
{
    size_t i = (size_t)hash64(text, len) & n->mask;

    while (n->slots[i].text && (n->slots[i].len != len || memcmp(n->slots[i].text, text, len) != 0))
        i = (i + 1) & n->mask;
    return &n->slots[i];
}

uint32_t names_find(const names *n, const char *text, size_t len)
{
    const name_slot *slot = slot_of(n, text, len);

    return slot->text ? slot->place : NAME_ABSENT;
}

uint32_t names_add(names *n, const char *text, size_t len, uint32_t place)
{
    name_slot *slot = slot_of(n, text, len);

    if (slot->text)
        return slot->place;
    *slot = (name_slot){.text = text, .len = len, .place = place};
    return NAME_ABSENT;
}

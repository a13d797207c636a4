#include "exec/published.h"

#include "base/memory.h"

static void published_free(version *v)
{
    published *s = (published *)v;

    for (uint32_t i = 0; i < s->count; i++)
        version_drop(s->parts[i].v);
    version_drop((version *)&s->cat->head);
    memory_free(s);
}

static bool is_there(const catalog *cat, uint32_t index)
{
    for (uint32_t i = 0; i < cat->count; i++)
        if (collection_index_numbered(cat->collections[i], index))
            return true;
    return false;
}

static void add(published *s, const published_part *p, bool look)
{
    if (p->v && (!look || is_there(s->cat, p->index)))
        s->parts[s->count++] = (published_part){p->index, version_keep(p->v)};
}

published *published_new(const published *before, const catalog *cat, const published_part changed[], uint32_t count)
{
    uint32_t old = before ? before->count : 0, i = 0, k = 0;
    bool look = !before || before->cat != cat;
    published *s = memory_alloc(sizeof *s + ((size_t)old + count) * sizeof *s->parts);

    if (!s)
        return NULL;
    *s = (published){.head = {.references = 1, .free = published_free}, .cat = cat};
    version_keep((version *)&cat->head);
    while (i < old || k < count) {
        if (k == count || (i < old && before->parts[i].index < changed[k].index)) {
            add(s, &before->parts[i++], look);
            continue;
        }
        i += i < old && before->parts[i].index == changed[k].index;
        add(s, &changed[k++], look);
    }
    return s;
}

version *published_find(const published *s, uint32_t index)
{
    uint32_t low = 0, high = s->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->parts[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->parts[low].index == index ? s->parts[low].v : NULL;
}

/* text/pipeline/piece_list.c: a list of pieces in one buffer. */
#include "text/pipeline/piece_list.h"

void piece_list_free(piece_list *l)
{
    buffer_free(&l->text);
    buffer_free(&l->from);
    free(l->list);
    *l = (piece_list){0};
}

void piece_list_clear(piece_list *l)
{
    l->text.size = l->from.size = 0;
    l->count = 0;
}

bool piece_list_mark(piece_list *l, size_t begin, size_t end, size_t first_bytes, int32_t id)
{
    if (!ARRAY_RESERVE(&l->list, &l->capacity, l->count + 1))
        return false;
    l->list[l->count++] = (text_piece){begin, end - begin, first_bytes, id};
    return true;
}

bool piece_list_add(piece_list *l, const char *text, const rapt_span *from, size_t size, size_t first_bytes, int32_t id)
{
    size_t at = l->text.size;
    return sources_copy(&l->text, &l->from, text, from, size) && piece_list_mark(l, at, at + size, first_bytes, id);
}

bool piece_list_add_part(piece_list *l, const char *text, const rapt_span *from, size_t begin, size_t end, size_t first_bytes)
{
    size_t last = first_bytes < end ? first_bytes : end;
    return piece_list_add(l, text + begin, sources_at(from, begin), end - begin, last > begin ? last - begin : 0, -1);
}

/* text/pipeline/piece_list.h: stretches of text, one after the other in one buffer. For the steps of a pipeline, each of which
 * reads one list and writes another. */
#ifndef TEXT_PIPELINE_PIECE_LIST_H
#define TEXT_PIPELINE_PIECE_LIST_H

#include "text/sources.h"

typedef struct text_piece {
    size_t at, size;     /* in the text of the list */
    size_t first_bytes;  /* how many of its bytes, at its beginning, come from the first character of the text that is encoded */
    int32_t id;          /* id of an added token; -1: not an added token */
} text_piece;

/* Starts as {0}. */
typedef struct piece_list {
    buffer text, from; /* from: the places of its bytes (text/sources.h), if they are asked for */
    text_piece *list;  /* [count] */
    size_t count, capacity;
} piece_list;

void piece_list_free(piece_list *l);
/* Empties the list and keeps its memory. */
void piece_list_clear(piece_list *l);
/* Makes a piece of bytes begin .. end - 1 of the buffer. False on out-of-memory, as the functions below. */
bool piece_list_mark(piece_list *l, size_t begin, size_t end, size_t first_bytes, int32_t id);
/* Copies a piece, with the places of its bytes or NULL. */
bool piece_list_add(piece_list *l, const char *text, const rapt_span *from, size_t size, size_t first_bytes, int32_t id);
/* Copies bytes begin .. end - 1 of `text`; its first `first_bytes` bytes come from the first character. */
bool piece_list_add_part(piece_list *l, const char *text, const rapt_span *from, size_t begin, size_t end, size_t first_bytes);

static inline const char *piece_list_text(const piece_list *l, size_t i)
{
    return l->text.data + l->list[i].at;
}

/* The places of a piece's bytes, or NULL. */
static inline const rapt_span *piece_list_from(const piece_list *l, size_t i)
{
    return sources_at(sources_of(&l->from), l->list[i].at);
}

#endif

/* decode/search_rows.c: allocates and sorts the hypotheses of a beam search. */
#include "decode/search_rows.h"

bool search_rows_allocate(search_row **rows, size_t count, size_t capacity, arena *memory)
{
    *rows = arena_zeroed(memory, count, sizeof **rows);
    bool ok = *rows != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = ((*rows)[i].tokens = arena_array(memory, capacity, sizeof(int32_t))) != NULL;
    return ok;
}

bool search_rows_allocate_results(search_result *results, size_t count, size_t best, size_t capacity, arena *memory)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        results[i] = (search_result){arena_zeroed(memory, best, sizeof(search_hypothesis)), 0};
        ok = results[i].best != NULL;
        for (size_t j = 0; ok && j < best; j++)
            ok = (results[i].best[j].tokens = arena_array(memory, capacity, sizeof(int32_t))) != NULL;
    }
    return ok;
}

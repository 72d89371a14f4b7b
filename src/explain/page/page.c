/* explain/page/page.c: puts the data into the page. The numbers of a step go in as base64: shorter than digits, and quick to
 * read where a model has millions of them; how, and which of them: page_steps.h. Not the page itself, which is beside this
 * file. */
#define _GNU_SOURCE /* open_memstream */
#include "explain/page/page.h"

#include "explain/page/page_parts.h"
#include "explain/page/page_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the numbers of a page may take, in letters: with all the rest a page of some hundreds of tokens has 3 MB at most. */
#define LETTERS ((size_t)2650 * 1000)

/* ---- the data ---- */

/* A step with letters in place of numbers: a new object that shares the rest with the old one. NULL: out of memory. */
static json_t *packed_step(const page_step *s)
{
    json_t *packed = json_copy(s->json);
    json_object_del(packed, "values");
    json_object_del(packed, "values_base64");
    if (packed && page_numbers_put(s, packed))
        return packed;
    json_decref(packed);
    return NULL;
}

static json_t *packed_steps(const page_steps *all)
{
    json_t *packed = json_array();
    for (size_t i = 0; packed && i < all->count; i++)
        if (json_array_append_new(packed, packed_step(&all->steps[i])) != 0) {
            json_decref(packed);
            return NULL;
        }
    return packed;
}

static rapt_code packed_explanation(json_t *explanation, json_t **packed, rapt_error *err)
{
    page_steps all;
    rapt_code code = page_steps_read(explanation, &all, err);
    *packed = code == RAPT_OK ? json_copy(explanation) : NULL;
    if (code == RAPT_OK) {
        page_plan(&all, LETTERS);
        if (json_object_set_new(*packed, "steps", packed_steps(&all)) != 0)
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    }
    page_steps_free(&all);
    return code;
}

/* ---- JSON inside HTML ---- */

static int page_put(FILE *out, const void *data, size_t size)
{
    return fwrite(data, 1, size, out) == size ? 0 : -1;
}

/* In JSON a "<" can only stand in a string, where it may be written in another way: so nothing in the data ends the script
 * that holds it, or opens a comment there. */
static int put_json(const char *text, size_t size, void *to)
{
    static const char escaped[] = "\\u003c";
    for (const char *open; (open = memchr(text, '<', size)) != NULL; text = open + 1) {
        if (page_put(to, text, (size_t)(open - text)) != 0 || page_put(to, escaped, sizeof escaped - 1) != 0)
            return -1;
        size -= (size_t)(open - text) + 1;
    }
    return page_put(to, text, size);
}

static rapt_code page_join(const json_t *packed, char **html, size_t *size, rapt_error *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    bool done = out && page_put(out, page_head, page_head_size) == 0 &&
                json_dump_callback(packed, put_json, out, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 &&
                page_put(out, page_tail, page_tail_size) == 0;
    done = out && fclose(out) == 0 && done;
    if (!done) {
        free(text);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    }
    *html = text;
    if (size)
        *size = length;
    return RAPT_OK;
}

rapt_code page_make(json_t *explanation, char **html, size_t *size, rapt_error *err)
{
    json_t *packed;
    rapt_code code = packed_explanation(explanation, &packed, err);
    if (code == RAPT_OK)
        code = page_join(packed, html, size, err);
    json_decref(packed);
    return code;
}

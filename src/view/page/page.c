/* view/page/page.c: puts the data into the page. For `rapt explain --html`. The numbers of a step go in as base64: shorter than
 * digits, and quick to read where a model has millions of them; how, and which of them: page_steps.h. Not the page itself:
 * src/view/page. */
#define _GNU_SOURCE /* fopencookie */
#include "view/page/page.h"

#include "base/file.h"
#include "view/page/page_parts.h"
#include "view/page/page_steps.h"

#include <stdio.h>
#include <string.h>

/* What the numbers of a page may take, in letters: with all the rest a page of some hundreds of tokens has 3 MB at most. */
#define LETTERS ((size_t)2650 * 1000)

/* ---- the data ---- */

/* A step with letters in place of numbers: a new object that shares the rest with the old one. NULL: no memory. */
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
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    }
    page_steps_free(&all);
    return code;
}

/* ---- JSON inside HTML ---- */

/* A file that appears whole or not at all, as a stream: JSON comes in very small pieces. */
typedef struct page_file {
    file_writer writer;
    rapt_error *err;
    rapt_code code;
} page_file;

static ssize_t page_put_bytes(void *to, const char *data, size_t size)
{
    page_file *p = to;
    if (p->code == RAPT_OK)
        p->code = file_writer_put(&p->writer, data, size, p->err);
    return p->code == RAPT_OK ? (ssize_t)size : 0;
}

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

static rapt_code put_page(page_file *p, const json_t *packed)
{
    FILE *out = fopencookie(p, "w", (cookie_io_functions_t){.write = page_put_bytes});
    bool done = out && page_put(out, page_head, page_head_size) == 0 &&
                json_dump_callback(packed, put_json, out, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 &&
                page_put(out, page_tail, page_tail_size) == 0;
    done = out && fclose(out) == 0 && done;
    return p->code != RAPT_OK || done ? p->code : rapt_fail(p->err, RAPT_ERR_MEMORY, "out of memory");
}

static rapt_code write_packed(const char *path, const json_t *packed, rapt_error *err)
{
    page_file p = {.err = err};
    rapt_code code = file_writer_open(&p.writer, path, err);
    if (code != RAPT_OK)
        return code;
    code = put_page(&p, packed);
    if (code == RAPT_OK)
        return file_writer_finish(&p.writer, err);
    file_writer_discard(&p.writer);
    return code;
}

rapt_code page_write(const char *path, json_t *explanation, rapt_error *err)
{
    json_t *packed;
    if (!*path)
        return rapt_fail(err, RAPT_ERR_VALUE, "the output path is empty");
    rapt_code code = packed_explanation(explanation, &packed, err);
    if (code == RAPT_OK)
        code = write_packed(path, packed, err);
    json_decref(packed);
    return code;
}

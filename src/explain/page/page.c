/* explain/page/page.c: puts the data into the page. Elements are written as base64, which is shorter than digits and quick to
 * read for millions of elements; page_steps.h says how, and which. The page itself is in the HTML, CSS and JavaScript files of
 * this folder. */
#include "explain/page/page.h"

#include "base/buffer.h"
#include "explain/page/page_parts.h"
#include "explain/page/page_steps.h"

#include <string.h>

/* The limit of the elements of a page, in letters: with all the rest a page of some hundreds of tokens has 3 MB at most. */
#define LETTERS ((size_t)2550 * 1000)
#define PAGE_JSON (JSON_COMPACT | JSON_REAL_PRECISION(9)) /* how data is written */
#define CHECKPOINTS_LETTERS ((size_t)4 * 1000 * 1000) /* max letters of all checkpoints together */

/* ---- the data ---- */

/* A step with letters in place of values: a new object that shares the rest with the old one. NULL: out of memory. */
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

static bool is_full(const json_t *explanation)
{
    return json_is_true(json_object_get(explanation, "full"));
}

/* *packed becomes a copy of `o` whose "steps" take at most `letters` letters; *taken: how many. `whole`: no step may be left
 * out. */
static rapt_code pack(const json_t *explanation, json_t *o, size_t letters, bool whole, json_t **packed, size_t *taken,
                      rapt_error *err)
{
    page_steps all;
    rapt_code code = page_steps_read(o, "steps", &all, err);
    *packed = code == RAPT_OK ? json_copy(o) : NULL;
    if (code == RAPT_OK) {
        *taken = page_plan(&all, is_full(explanation) ? SIZE_MAX : letters);
        if (json_object_set_new(*packed, "steps", packed_steps(&all)) != 0)
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    }
    for (size_t i = 0; whole && i < all.count && code == RAPT_OK; i++)
        if (all.steps[i].x && all.steps[i].format == PAGE_LEFT_OUT)
            code = rapt_fail(err, RAPT_ERR_VALUE, "the attention weights of %zu checkpoints are more than a page holds",
                             json_array_size(json_object_get(explanation, "checkpoints")));
    page_steps_free(&all);
    return code;
}

/* Replaces the checkpoints of `packed` by packed ones. */
static rapt_code pack_checkpoints(const json_t *explanation, json_t *packed, rapt_error *err)
{
    json_t *given = json_object_get(explanation, "checkpoints"), *list = json_array(), *o;
    rapt_code code = list ? RAPT_OK : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    size_t taken;
    for (size_t i = 0; i < json_array_size(given) && code == RAPT_OK; i++) {
        code = pack(explanation, json_array_get(given, i), CHECKPOINTS_LETTERS / json_array_size(given), true, &o, &taken,
                    err);
        if (json_array_append_new(list, o) != 0 && code == RAPT_OK)
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    }
    if (code == RAPT_OK && given && json_object_set(packed, "checkpoints", list) != 0)
        code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    json_decref(list);
    return code;
}

/* Replaces the parameters of `packed` by packed ones of at most `letters` letters. */
static rapt_code pack_parameters(const json_t *explanation, size_t letters, json_t *packed, rapt_error *err)
{
    page_steps all;
    if (!json_object_get(explanation, "parameters"))
        return RAPT_OK;
    rapt_code code = page_steps_read(explanation, "parameters", &all, err);
    if (code == RAPT_OK) {
        page_plan_parameters(&all, is_full(explanation) ? SIZE_MAX : letters);
        if (json_object_set_new(packed, "parameters", packed_steps(&all)) != 0)
            code = rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    }
    page_steps_free(&all);
    return code;
}

static rapt_code packed_explanation(json_t *explanation, json_t **packed, rapt_error *err)
{
    const json_t *o = json_object_get(explanation, "lens");
    size_t lens = 0, taken = 0;
    *packed = NULL;
    if (o && !page_letters(o, &lens))
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    const size_t letters = lens < LETTERS ? LETTERS - lens : 0;
    rapt_code code = pack(explanation, explanation, letters, false, packed, &taken, err);
    if (code == RAPT_OK)
        code = pack_parameters(explanation, taken < letters ? letters - taken : 0, *packed, err);
    return code == RAPT_OK ? pack_checkpoints(explanation, *packed, err) : code;
}

/* ---- JSON inside HTML ---- */

static const char ESCAPED[] = "\\u003c";

static int page_count_json(const char *text, size_t size, void *to)
{
    size_t *letters = to;
    *letters += size;
    for (size_t i = 0; i < size; i++)
        *letters += text[i] == '<' ? sizeof ESCAPED - 2 : 0;
    return 0;
}

bool page_letters(const json_t *o, size_t *letters)
{
    *letters = 0;
    return json_dump_callback(o, page_count_json, letters, PAGE_JSON | JSON_ENCODE_ANY) == 0;
}

/* A page as it grows. json_dump_callback can swallow a failure, so it is kept here. */
typedef struct page_text {
    buffer html;
    bool failed;
} page_text;

static void page_append(page_text *p, const void *data, size_t size)
{
    p->failed = p->failed || !buffer_append(&p->html, data, size);
}

/* Escapes every "<", which JSON has only in strings, so that nothing in the data ends the script that holds it, or opens a
 * comment there. */
static int page_append_json(const char *text, size_t size, void *to)
{
    page_text *p = to;
    for (const char *open; (open = memchr(text, '<', size)) != NULL; text = open + 1) {
        page_append(p, text, (size_t)(open - text));
        page_append(p, ESCAPED, sizeof ESCAPED - 1);
        size -= (size_t)(open - text) + 1;
    }
    page_append(p, text, size);
    return p->failed ? -1 : 0;
}

static rapt_code page_join(const json_t *packed, char **html, size_t *size, rapt_error *err)
{
    page_text p = {.failed = false};
    page_append(&p, page_head, page_head_size);
    bool dumped = json_dump_callback(packed, page_append_json, &p, PAGE_JSON) == 0;
    page_append(&p, page_tail, page_tail_size);
    if (p.failed || !dumped) {
        buffer_free(&p.html);
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a page");
    }
    *html = p.html.data;
    if (size)
        *size = p.html.size;
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

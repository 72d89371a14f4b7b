/* golden_lines.h: what a tokenizer of the package `tokenizers` makes of texts and of ids, as tools/golden_pipelines.py and
 * tools/golden_layouts.py write it. For the tests of pipelines, which include cmocka.h and jansson.h before. */
#ifndef TESTS_GOLDEN_LINES_H
#define TESTS_GOLDEN_LINES_H

#include "text/pipeline/pipeline.h"
#include "text/tokenizer_files.h"

static inline int32_t *ids_of(const json_t *list, size_t *count)
{
    *count = json_array_size(list);
    int32_t *ids = malloc((*count + 1) * sizeof *ids);
    assert_true(json_is_array(list) && ids);
    for (size_t i = 0; i < *count; i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
    return ids;
}

/* [text, ids with special tokens, ids without] */
static inline void check_encoded(const rapt_tokenizer *k, const json_t *line)
{
    const json_t *text = json_array_get(line, 0);
    assert_int_equal(json_array_size(line), 3);
    for (size_t i = 1; i <= 2; i++) {
        size_t count;
        int32_t *ids = ids_of(json_array_get(line, i), &count);
        assert_encodes(k, json_string_value(text), json_string_length(text), i == 1, ids, count);
        free(ids);
    }
}

/* [ids, text with special tokens, text without] */
static inline void check_decoded(const rapt_tokenizer *k, const json_t *line)
{
    size_t count, size;
    int32_t *ids = ids_of(json_array_get(line, 0), &count);
    const json_t *all = json_array_get(line, 1), *shown = json_array_get(line, 2);
    assert_decodes(k, ids, count, json_string_value(all), json_string_length(all));
    char *text = pipeline_decode(pipeline_of(k), ids, count, true, &size, NULL);
    assert_non_null(text);
    assert_int_equal(size, json_string_length(shown));
    assert_memory_equal(text, json_string_value(shown), size + 1);
    free(text);
    free(ids);
}

/* "encoded" and "decoded" of a golden. */
static inline void check_lines(const rapt_tokenizer *k, const json_t *root)
{
    const json_t *encoded = json_object_get(root, "encoded"), *decoded = json_object_get(root, "decoded");
    assert_true(json_array_size(encoded) >= 40 && json_array_size(decoded) >= 40);
    for (size_t i = 0; i < json_array_size(encoded); i++)
        check_encoded(k, json_array_get(encoded, i));
    for (size_t i = 0; i < json_array_size(decoded); i++)
        check_decoded(k, json_array_get(decoded, i));
}

#endif

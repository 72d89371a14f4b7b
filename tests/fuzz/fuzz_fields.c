/* tests/fuzz/fuzz_fields.c: any bytes as the body of a request, JSON or a form (the first byte says which), whose fields an
 * endpoint reads.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "serve/module/fields.h"
#include "text/utf8.h"

static void read_texts(fields *f)
{
    size_t count;
    const char **texts = fields_texts(f, "texts", 1, 5, &count, NULL);
    require((texts != NULL) == (count > 0));
    for (size_t i = 0; i < count; i++)
        require(utf8_valid_prefix(texts[i], strlen(texts[i])) == strlen(texts[i]));
    free(texts);
}

static void read_fields(fields *f)
{
    static const char *const words[] = {"a", "b"};
    fields inner;
    require(strlen(fields_required_text(f, "q")) < 1 << 20);
    const int64_t integer = fields_integer(f, "i", 0, -9, 99);
    const double number = fields_number(f, "x", 0, 0, 1);
    require(integer >= -9 && integer <= 99 && number >= 0 && number <= 1);
    require(fields_word(f, "w", words, 2, 2) <= 2);
    fields_flag(f, "b", false);
    read_texts(f);
    fields_ignore(f, "user");
    fields_neutral(f, "n", "[0, \"0\", {}, []]");
    if (fields_object(f, "o", &inner)) {
        fields_flag(&inner, "b", true);
        fields_finish(&inner);
    }
    fields_free(&inner);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    request_error error = {0};
    fields f;
    if (size == 0)
        return 0;
    exchange *x = exchange_new("POST", "/", NULL, NULL);
    require(x && exchange_add_body(x, (const char *)input + 1, size - 1));
    require(exchange_set_header(x, "Content-Type", *input == '&' ? "application/x-www-form-urlencoded" : "application/json"));
    fields_read(&f, x, true, &error);
    read_fields(&f);
    const bool fine = fields_finish(&f);
    require(fine == (error.status == 0) && fine == (*error.message == '\0'));
    require(fine || error.status == 400);
    for (const char *p = error.message; *p; p++)
        require((unsigned char)*p >= ' ');
    fields_free(&f);
    exchange_release(x);
    return 0;
}

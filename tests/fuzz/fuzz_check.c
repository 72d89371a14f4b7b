/* tests/fuzz/fuzz_check.c: any bytes as sentence pairs to check, and as two files of them.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "data/check/check.h"
#include "data/pairs.h"
#include "rapt/data.h"

static rapt_code check(const check_input *in, check_report *r)
{
    rapt_error err = {0};
    size_t newly = 0;
    rapt_code code = check_pairs(in, &(check_options){.ratio = 3, .margin = 20}, r, &err);
    require_outcome(code == RAPT_OK, &err);
    for (unsigned k = 0; k < CHECK_COUNT && !code; k++) {
        const check_finding *f = &r->found[k];
        require(f->newly <= f->lines && f->lines <= r->lines && f->first <= r->lines);
        require((f->first == 0) == (f->lines == 0));
        newly += f->newly;
    }
    require(code || (newly == r->dropped && r->pairs <= r->lines && r->dropped <= r->lines));
    return code;
}

/* Whether the whole text seems to have another encoding. */
static bool is_of_another(const uint8_t *input, size_t size)
{
    const check_input in = {.name = {""}, .text = {(const char *)input}, .size = {size}, .count = 1};
    return check_encoding(&in, NULL) != RAPT_OK;
}

/* Training refuses the file where the check finds such a line, and nowhere else. */
static void compare_with_training(const uint8_t *input, size_t size, const check_report *r)
{
    char path[64];
    int fd = fuzz_file(input, size, path);
    rapt_pairs *pairs = rapt_pairs_read(path, 0, NULL);
    bool faulty = r->found[CHECK_NO_TAB].lines || r->found[CHECK_NOT_UTF8].lines;
    bool nothing = r->found[CHECK_EMPTY_LINE].lines == r->lines;
    require((pairs == NULL) == (faulty || nothing));
    require(!pairs || rapt_pairs_count(pairs) == r->lines - r->found[CHECK_EMPTY_LINE].lines);
    rapt_pairs_free(pairs);
    /* Without the lines that the check finds it takes the others. */
    pairs = pairs_read_filtered(path, 0, &(check_options){.ratio = 3, .margin = 20, .rules = CHECK_ANY_REASON}, NULL);
    require((pairs == NULL) == (r->lines == r->dropped || is_of_another(input, size)));
    require(!pairs || rapt_pairs_count(pairs) == r->lines - r->dropped);
    rapt_pairs_free(pairs);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    check_report r;
    const char *text = (const char *)input;
    require(check(&(check_input){.name = {"one"}, .text = {text}, .size = {size}, .count = 1}, &r) == RAPT_OK);
    compare_with_training(input, size, &r);
    size_t half = size / 2;
    check(&(check_input){.name = {"a", "b"}, .text = {text, text + half}, .size = {half, size - half}, .count = 2}, &r);
    return 0;
}

/* tests/train/test_text_share.c: tokens of rank 0 for ranks that see no file of them: copies with the same ids, that leave
 * nothing behind; if one cannot be written, all ranks fail in the same way. test_ranks_folder.c has ranks that see the file.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "folder.h"
#include "rapt/text.h"
#include "train/ranks/ranks_work.h"
#include "train/task/text_data.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

enum { RANKS = 3, LETTERS = 3000000 }; /* several portions */

typedef struct sharer {
    rapt_transport transport;
    rapt_token_file *file;
    rapt_code code;
    rapt_error err;
} sharer;

static void *share(void *context)
{
    sharer *s = context;
    run r = {.options = &(rapt_train_options){.out = "m"}};
    rapt_group *g = rapt_group_new(&s->transport, NULL, &s->err);
    s->code = g ? ranks_join(&r, g, &s->err) : s->err.code;
    text_tokens t = {.text = NULL, .name = "m/text.tokens", .file = s->file};
    if (!s->code)
        s->code = text_share_tokens(&r, &t, &s->err);
    s->file = t.file;
    free(r.work.words);
    free(r.work.bounds);
    rapt_group_free(g);
    return NULL;
}

static void share_all(sharer *s)
{
    pthread_t threads[RANKS];
    rapt_transport *transports = rapt_group_local(RANKS, NULL);
    assert_non_null(transports);
    for (int i = 0; i < RANKS; i++) {
        s[i].transport = transports[i];
        assert_int_equal(pthread_create(&threads[i], NULL, share, &s[i]), 0);
    }
    for (int i = 0; i < RANKS; i++)
        pthread_join(threads[i], NULL);
    rapt_group_local_free(transports);
}

/* A token file whose name is gone. */
static rapt_token_file *unnamed_tokens(void)
{
    rapt_error err = {0};
    FILE *f = fopen("text", "w");
    assert_non_null(f);
    for (uint32_t i = 0, x = 1; i < LETTERS; i++, x = x * 1664525 + 1013904223)
        fputc('a' + (int)((x >> 16) % 26), f);
    fclose(f);
    rapt_tokenizer *k = rapt_tokenizer_train_characters("abcdefghijklmnopqrstuvwxyz", 26, &err);
    assert_int_equal(rapt_token_file_make(k, "text", "tokens", &err), RAPT_OK);
    rapt_token_file *tokens = rapt_token_file_open("tokens", &err);
    assert_non_null(tokens);
    rapt_tokenizer_free(k);
    unlink("tokens");
    unlink("text");
    return tokens;
}

static void copies_are_equal(void **state)
{
    sharer s[RANKS] = {{.code = RAPT_OK}};
    (void)state;
    s[0].file = unnamed_tokens();
    assert_int_equal(mkdir("t", 0700), 0);
    setenv("TMPDIR", "t", 1);
    share_all(s);
    for (int i = 0; i < RANKS; i++) {
        assert_string_equal(s[i].err.message, "");
        assert_non_null(s[i].file);
        assert_int_equal(rapt_token_file_count(s[i].file), LETTERS);
        assert_memory_equal(&s[i].file->header, &s[0].file->header, sizeof s[0].file->header);
        assert_memory_equal(s[i].file->ids, s[0].file->ids, LETTERS * s[0].file->header.width);
    }
    for (int i = 0; i < RANKS; i++)
        rapt_token_file_close(s[i].file);
    assert_int_equal(rmdir("t"), 0);
    unsetenv("TMPDIR");
}

static void all_fail_alike(void **state)
{
    sharer s[RANKS] = {{.code = RAPT_OK}};
    (void)state;
    s[0].file = unnamed_tokens();
    FILE *f = fopen("taken", "w");
    assert_non_null(f);
    fclose(f);
    setenv("TMPDIR", "taken", 1);
    share_all(s);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(s[i].code, RAPT_ERR_IO);
        assert_non_null(strstr(s[i].err.message, "rank 1 on "));
        assert_non_null(strstr(s[i].err.message, "taken"));
        rapt_token_file_close(s[i].file);
    }
    unsetenv("TMPDIR");
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_A_FOLDER(copies_are_equal), IN_A_FOLDER(all_fail_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

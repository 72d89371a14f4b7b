/* tests/train/test_ranks_set_up.c: processes that would not train the same model, or cannot, end before anything is written, all
 * of them with one message, which names the rank that differs, its host, and what differs; and where rank 0 cannot write its
 * checkpoint, all end with its message and the one before is still there.
 * labels: threads */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train_folder.h"
#include "train_ranks.h"

#define SHARDS "train.accumulate=4 train.shards=4 train.batch=1 train.steps=8 train.checkpoint_every=2 "
#define SAME_RECIPE ": all ranks need the same recipe"

static char host[256];

static void name_host(void)
{
    assert_int_equal(gethostname(host, sizeof host), 0);
}

/* They end as `message` says, and leave nothing: HOST stands for the name of this machine. */
static void assert_refused(train_ranks *t, const char *message)
{
    char expected[1024] = "";
    for (const char *at = message, *here; *at; at = here + 4) {
        here = strstr(at, "HOST");
        if (!here) {
            strcat(expected, at);
            break;
        }
        strncat(expected, at, (size_t)(here - at));
        strcat(expected, host);
    }
    ranks_run(t);
    assert_string_equal(t->list[0].err.message, expected);
    ranks_end_alike(t, t->list[0].code, 1);
    assert_true(t->list[0].code != RAPT_OK);
    assert_false(file_exists("m"));
    ranks_free(t);
}

static train_ranks *three(const char *changes)
{
    name_host();
    put_words("text.txt", 600);
    return ranks_make(3, changes, (rapt_train_options){.out = "m"}, "text.txt");
}

static void other_recipes(void **state)
{
    static const char *const cases[][2] = {
        {"train.lr=0.001", "rank 2 on HOST: train.lr is 0.001, and 0.01 on rank 0 (HOST)" SAME_RECIPE},
        {"train.steps=9", "rank 2 on HOST: train.steps is 9, and 8 on rank 0 (HOST)" SAME_RECIPE},
        {"train.report_every=4", "rank 2 on HOST: train.report_every is 4, and 5 on rank 0 (HOST)" SAME_RECIPE},
        {"train.freeze=*.bias", "rank 2 on HOST: train.freeze is *.bias, and empty on rank 0 (HOST)" SAME_RECIPE},
        {"train.shards=2", "rank 2 on HOST: train.shards is 2, and 4 on rank 0 (HOST)" SAME_RECIPE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        train_ranks *t = three(SHARDS);
        set_all(&t->list[2].recipe, cases[i][0]);
        assert_refused(t, cases[i][1]);
    }
}

static void other_options(void **state)
{
    (void)state;
    train_ranks *t = three(SHARDS);
    t->list[1].options.max_steps = 4;
    assert_refused(t, "rank 1 on HOST: --max-steps is 4, and not given on rank 0 (HOST)");
    t = three(SHARDS);
    t->list[1].options.resume = true;
    assert_refused(t, "rank 1 on HOST: --resume is given to only one of this rank and rank 0 (HOST)");
}

static void too_many_processes(void **state)
{
    (void)state;
    assert_refused(three("train.accumulate=4 train.shards=2"),
                   "rank 0 on HOST: 3 processes cannot share train.shards 2: set it to 3 or more, and train.accumulate at least "
                   "as high; or start fewer processes");
    train_ranks *t = three("train.accumulate=4");
    assert_refused(t, "rank 0 on HOST: 3 processes cannot share train.shards 1: set it to 3 or more, and train.accumulate at "
                      "least as high; or start fewer processes");
}

/* ---- data ----------------------------------------------------------------------------------------------------- */

static void change_byte(const char *path)
{
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, 1000, SEEK_SET);
    fputc('q', f);
    fclose(f);
}

static void other_texts(void **state)
{
    (void)state;
    train_ranks *t = three(SHARDS);
    change_byte("rank1/text.txt");
    assert_refused(t, "rank 1 on HOST: text.txt is not the same as on rank 0 (HOST): copy it to all machines");
    t = three(SHARDS);
    assert_int_equal(system("mv rank2/text.txt rank2/elsewhere"), 0);
    assert_refused(t, "rank 2 on HOST: cannot read text.txt: No such file or directory");
}

static void other_pairs(void **state)
{
    static const char changes[] = "task=translation data.text= data.pairs=text.txt data.max_len=12 tokenizer.type=words "
                                  "data.validation_fraction=0.2 model.context=64 model.init=xavier "
                                  "model.max_positions=12 " SHARDS;
    (void)state;
    for (int i = 0; i < 2; i++) {
        train_ranks *t = three(changes);
        FILE *f = fopen("text.txt", "w");
        for (int k = 0; k < 300; k++)
            fprintf(f, "word%d and\tother%d und\n", k % 7, k % 5);
        fclose(f);
        assert_int_equal(system("cp text.txt rank1; cp text.txt rank2"), 0);
        if (i == 0)
            change_byte("rank2/text.txt");
        else
            assert_int_equal(system("mv rank2/text.txt rank2/elsewhere"), 0);
        assert_refused(t, i == 0 ? "rank 2 on HOST: text.txt is not the same as on rank 0 (HOST): copy it to all machines"
                                 : "rank 2 on HOST: cannot read text.txt: No such file or directory");
    }
}

/* Tokens of the program, at rank 1 or at the ranks beside it, are not what rank 0 would send. */
static void tokens_at_some_ranks(void **state)
{
    static const char changes[] = "tokenizer.type=file tokenizer.path=known/tokenizer.json data.validation_fraction=0 " SHARDS;
    (void)state;
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "known"});
    rapt_token_file *file = rapt_token_file_open("known/text.tokens", NULL);
    assert_non_null(file);
    for (int i = 0; i < 4; i++) {
        train_ranks *t = three(changes);
        const bool validation = i >= 2;
        for (int k = 0; k < 3; k++) {
            rapt_train_options *o = &t->list[k].options;
            o->tokens = validation || (k == 1) == (i == 0) ? file : NULL;
            o->validation_tokens = validation && (k == 1) == (i == 2) ? file : NULL;
        }
        assert_refused(t, validation ? "rank 1 on HOST: rapt_train_options.validation_tokens is given to only one of this rank "
                                       "and rank 0 (HOST)"
                                     : "rank 1 on HOST: rapt_train_options.tokens is given to only one of this rank and rank 0 "
                                       "(HOST)");
    }
    train_ranks *t = three(changes);
    t->list[1].options.validation_tokens = file; /* and none to train on */
    assert_refused(t, "rank 1 on HOST: rapt_train_options.validation_tokens is given to only one of this rank and rank 0 (HOST)");
    t = three(changes);
    for (int k = 0; k < 3; k++)
        t->list[k].options.validation_tokens = file;
    assert_refused(t, "rank 0 on HOST: there are tokens to validate with, and none to train on");
    rapt_token_file_close(file);
}

/* Ids have 4 bytes at rank 1 and 2 at the others. */
static void tokens_of_another_vocabulary(void **state)
{
    static const char changes[] = "tokenizer.type=file tokenizer.path=known/tokenizer.json data.validation_fraction=0 " SHARDS;
    (void)state;
    put_words("text.txt", 600);
    train("", (rapt_train_options){.out = "known"});
    rapt_token_file *file = rapt_token_file_open("known/text.tokens", NULL);
    assert_non_null(file);
    const size_t count = rapt_token_file_count(file);
    int32_t *ids = malloc(count * sizeof *ids);
    assert_non_null(ids);
    rapt_token_file_ids(file, 0, count, ids);
    for (int other = 1; other >= 0; other--) {
        train_ranks *t = three(changes);
        ids[7] = other ? 1 - ids[7] % 2 : ids[7];
        rapt_token_file *wide = rapt_token_file_from_ids(ids, count, 70000, NULL);
        assert_non_null(wide);
        for (int k = 0; k < 3; k++)
            t->list[k].options.tokens = k == 1 ? wide : file;
        if (other) {
            assert_refused(t, "rank 1 on HOST: text.txt is not the same as on rank 0 (HOST): copy it to all machines");
        } else {
            ranks_run(t);
            ranks_end_alike(t, RAPT_OK, 1);
            ranks_free(t);
        }
        rapt_token_file_ids(file, 0, count, ids);
        rapt_token_file_close(wide);
    }
    free(ids);
    rapt_token_file_close(file);
}

/* A model of the same shape. */
static void other_models(void **state)
{
    (void)state;
    put_words("text.txt", 600);
    train("train.steps=1", (rapt_train_options){.out = "a"});
    train("train.steps=1 seed=8", (rapt_train_options){.out = "b"});
    train_ranks *t = three(SHARDS);
    assert_int_equal(system("mkdir rank1/a && mv rank1/text.txt rank1/a"), 0);
    for (int i = 0; i < 3; i++)
        t->list[i].options.init = i == 1 ? "../b" : i == 2 ? "../a" : "a";
    assert_int_equal(system("mv rank1/a/text.txt rank1 && rmdir rank1/a"), 0);
    assert_refused(t, "rank 1 on HOST: the model in ../b differs from the one that rank 0 (HOST) starts from: "
                      "copy it to all machines");
}

/* ---- failures ------------------------------------------------------------------------------------------------- */

/* A stage that fails on one rank. */
static void one_rank_fails(void **state)
{
    (void)state;
    train_ranks *t = three(SHARDS);
    t->list[2].options.threads = 300;
    ranks_run(t);
    assert_non_null(strstr(t->list[0].err.message, "rank 2 on "));
    ranks_end_alike(t, RAPT_ERR_VALUE, 1);
    ranks_free(t);
    assert_false(file_exists("m"));
}

static void put_vectors(const char *path, double first)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (char c = 'a'; c <= 'z'; c++) {
        fprintf(f, "%c %g", c, first);
        for (int i = 1; i < 16; i++)
            fprintf(f, " 0.5");
        fprintf(f, "\n");
    }
    fclose(f);
}

static void other_vectors(void **state)
{
    (void)state;
    train_ranks *t = three(SHARDS "train.vectors=../v");
    put_vectors("v", 0.25);
    put_vectors("w", 0.125);
    for (int i = 0; i < 3; i++)
        set_all(&t->list[i].recipe, i == 0 ? "train.vectors=v" : i == 1 ? "train.vectors=../v" : "train.vectors=../w");
    assert_refused(t, "rank 2 on HOST: the embeddings that train.vectors gives differ from those on rank 0 (HOST): copy the "
                      "file to all machines");
}

static void rank_0_alone_is_refused(void **state)
{
    (void)state;
    train_ranks *t = three(SHARDS);
    put("taken", "");
    for (int i = 0; i < 3; i++)
        t->list[i].options.out = "taken";
    ranks_run(t);
    assert_true(t->list[0].code == RAPT_ERR_IO);
    assert_non_null(strstr(t->list[2].err.message, "rank 0 on "));
    ranks_end_alike(t, RAPT_ERR_IO, 1);
    ranks_free(t);
}

/* Puts something in the way of the checkpoint of step 6. */
static void block_checkpoint(void *context, const rapt_progress *p)
{
    (void)context;
    if (p->step == 6 && !p->report)
        assert_int_equal(system("mkdir -p m/checkpoints/step-00000006.safetensors/x"), 0);
}

static void checkpoint_cannot_be_written(void **state)
{
    (void)state;
    train_ranks *t = three(SHARDS "train.keep=5");
    t->list[0].options.on_progress = block_checkpoint;
    ranks_run(t);
    assert_non_null(strstr(t->list[2].err.message, "step-00000006"));
    ranks_end_alike(t, RAPT_ERR_IO, 1);
    ranks_free(t);
    assert_true(file_exists("m/checkpoints/step-00000004.safetensors"));
    assert_int_equal(system("rmdir m/checkpoints/step-00000006.safetensors/x m/checkpoints/step-00000006.safetensors"), 0);
    train(SHARDS "train.keep=5", (rapt_train_options){.out = "m", .resume = true});
    train(SHARDS "train.keep=5", (rapt_train_options){.out = "one"});
    assert_same_model("m", "one");
    assert_same_checkpoint("m", "one", 8);
}

/* ---- a faulty network ----------------------------------------------------------------------------------------- */

/* The transport of a rank that changes a bit of the `left`th long message that it receives. */
typedef struct faulty {
    rapt_transport of;
    int left, request;
    char *data;
} faulty;

static rapt_code faulty_open(void *context, int *rank, int *size, rapt_error *err)
{
    faulty *f = context;
    return f->of.open(f->of.context, rank, size, err);
}

static rapt_code faulty_send(void *context, int rank, int tag, const void *data, size_t bytes, int *request, rapt_error *err)
{
    faulty *f = context;
    return f->of.send(f->of.context, rank, tag, data, bytes, request, err);
}

static rapt_code faulty_receive(void *context, int rank, int tag, void *data, size_t bytes, int *request, rapt_error *err)
{
    faulty *f = context;
    rapt_code code = f->of.receive(f->of.context, rank, tag, data, bytes, request, err);
    if (bytes > 2000 && --f->left == 0)
        f->request = *request, f->data = data;
    return code;
}

static rapt_code faulty_test(void *context, int request, bool *done, rapt_error *err)
{
    faulty *f = context;
    rapt_code code = f->of.test(f->of.context, request, done, err);
    if (f->data && request == f->request && *done) {
        f->data[400] ^= 1;
        f->data = NULL;
    }
    return code;
}

static void faulty_progress(void *context)
{
    faulty *f = context;
    f->of.progress(f->of.context);
}

static void faulty_abort(void *context, int status)
{
    faulty *f = context;
    f->of.abort(f->of.context, status);
}

static void faulty_close(void *context)
{
    faulty *f = context;
    f->of.close(f->of.context);
}

/* Flips one bit in the parameters that a rank gets from the others. No rank can notice a fault in gradients. */
static void faults_are_found(void **state)
{
    int found = 0;
    (void)state;
    for (int left = 4; left < 12; left++) {
        train_ranks *t = three(SHARDS);
        faulty f = {t->list[1].transport, left, -1, NULL};
        t->list[1].transport = (rapt_transport){&f, faulty_open, faulty_send, faulty_receive, faulty_test, faulty_progress,
                                                faulty_abort, faulty_close, "faulty"};
        ranks_run(t);
        found += t->list[0].code == RAPT_ERR_VALUE && strstr(t->list[0].err.message, "rank 1 on ") &&
                 strstr(t->list[0].err.message, "the parameters differ");
        ranks_end_alike(t, t->list[0].code, 1);
        ranks_free(t);
        assert_int_equal(system("rm -rf m"), 0);
    }
    assert_true(found > 0 && found < 8);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(other_recipes), IN_A_FOLDER(other_options), IN_A_FOLDER(too_many_processes),
        IN_A_FOLDER(other_texts), IN_A_FOLDER(tokens_at_some_ranks), IN_A_FOLDER(tokens_of_another_vocabulary),
        IN_A_FOLDER(other_pairs), IN_A_FOLDER(other_models), IN_A_FOLDER(one_rank_fails),
        IN_A_FOLDER(other_vectors), IN_A_FOLDER(rank_0_alone_is_refused),
        IN_A_FOLDER(checkpoint_cannot_be_written),
        IN_A_FOLDER(faults_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

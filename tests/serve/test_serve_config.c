/* test_serve_config.c: a server's options by name: from serve.yaml, whose errors name their line, and one by one as the command
 * line sets them; and the file of API keys. */
#define _GNU_SOURCE
#include "serve/serve_config.h"

#include "serve/module/keys.h"
#include "serve/serve_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "folder.h"

static serve_options o;
static rapt_error err;

/* The code of reading a file with this text. */
static rapt_code read_text(const char *text)
{
    FILE *file = fopen(folder_in("serve.yaml"), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    serve_options_free(&o);
    assert_true(serve_options_default(&o));
    err = (rapt_error){0};
    return serve_config_read(&o, folder_in("serve.yaml"), &err);
}

static void test_all(void **state)
{
    (void)state;
    assert_int_equal(read_text("host: 0.0.0.0\nport: 81\nkv-memory: 1.5GiB\ndrain: 2.5\nno-explain: true\nlog: text\n"
                               "cors: [http://a, https://b:81]\nweights: q8_0\n"
                               "models:\n  en-fr: m/en\n  g:\n    path: m/g\n    weights: q4_0\n    slots: 3\n    source: de\n"),
                     RAPT_OK);
    assert_string_equal(o.host, "0.0.0.0");
    assert_int_equal(o.port, 81);
    assert_int_equal(o.all.kv_memory, 1610612736);
    assert_true(o.drain == 2.5);
    assert_true(o.no_explain);
    assert_int_equal(o.log, SERVE_LOG_TEXT);
    assert_int_equal(o.cors.count, 2);
    assert_string_equal(o.cors.at[1], "https://b:81");
    assert_string_equal(o.all.weights, "q8_0");
    assert_int_equal(o.model_count, 2);
    assert_string_equal(o.models[0].name, "en-fr");
    assert_string_equal(o.models[0].path, "m/en");
    assert_null(o.models[0].weights);
    assert_string_equal(o.models[1].weights, "q4_0");
    assert_int_equal(o.models[1].slots, 3);
    assert_string_equal(o.models[1].source, "de");
    assert_int_equal(o.queue, 256); /* as it was */
}

static void test_empty(void **state)
{
    (void)state;
    assert_int_equal(read_text(""), RAPT_OK);
    assert_int_equal(read_text("# nothing\n"), RAPT_OK);
    assert_int_equal(o.port, 8080);
}

/* Each is refused with its line and a reason. */
static void test_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"port: 8080\nprot: 1\n", ":2: prot: unknown key; did you mean port?"},
        {"port: x\n", ":1: port: 'x' is not a whole number from 0 to 65535"},
        {"port: 65536\n", ":1: port: '65536' is not"},
        {"port: 1\nport: 2\n", ":2: port comes twice"},
        {"port: [1, 2]\n", ":1: port takes one value"},
        {"port: {a: 1}\n", ":1: a plain value is expected here"},
        {"\n\nlog: loud\n", ":3: log: 'loud' is none of json, text, none"},
        {"max-body: 12 apples\n", ":1: max-body: '12 apples' is not a size"},
        {"cors: example.org\n", ":1: cors: 'example.org' is no origin"},
        {"cors: https://example.org/path\n", ":1: cors: "},
        {"weights: q9\n", ":1: weights: "},
        {"models: [a, b]\n", ":1: models: a group of NAME: PATH"},
        {"models:\n  a: x\n  a: y\n", ":3: a: two models are called 'a'"},
        {"models:\n  a:\n    slots: 4\n", ":2: a: the model has no path"},
        {"models:\n  a:\n    path: x\n    color: red\n", ":4: color: unknown key"},
        {"models:\n  a:\n    path: x\n    slots: 1\n    slots: 2\n", ":5: slots comes twice"},
        {"models:\n  a: {path: x}\n  b:\n", ":3: b: the model 'b' has no path"},
        {"models:\n  b: {path: ''}\n", ":2: path: is empty"},
        {"cors: http://\n", ":1: cors: 'http://' is no origin"},
        {"cors: 'http://a '\n", ":1: cors: 'http://a ' is no origin"},
        {"cors: http://A.org\n", ":1: cors: 'http://A.org' is no origin"},
        {"cors: https://a.org:443\n", ":1: cors: 'https://a.org:443' is no origin"},
        {"cors: https://u@a.org\n", ":1: cors: 'https://u@a.org' is no origin"},
        {"models:\n  a/b: x\n", ":2: a/b: 'a/b' cannot be the name of a model"},
        {"port: *x\n", ":1: a plain value"},
        {"port: &x 1\n", ":1: a plain value"},
        {"- port\n", ":1: keys with values are expected"},
        {"port: 1\n---\nport: 2\n", ":2: a second document"},
        {"port: 'a\n", "not YAML"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(read_text(cases[i].text), RAPT_OK);
        if (!strstr(err.message, cases[i].message))
            fail_msg("\"%s\" for %s", err.message, cases[i].text);
    }
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        size_t bytes; /* 0: refused */
    } cases[] = {{"4096", 4096}, {"5k", 5000}, {"5K", 5000}, {"5kB", 5000}, {"5Ki", 5120}, {"2 MiB", 2097152}, {"1.5M", 1500000},
                 {"1e6", 1000000}, {"k", 0}, {"5x", 0}, {"-5k", 0}, {"5 k B", 0}, {"1", 0}, {"nan", 0}, {"9T", 0}};
    char reason[SERVE_REASON];
    (void)state;
    assert_int_equal(read_text(""), RAPT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const rapt_code code = serve_keys_set(&o, "max-body", cases[i].text, reason);
        assert_int_equal(code, cases[i].bytes ? RAPT_OK : RAPT_ERR_VALUE);
        if (cases[i].bytes)
            assert_int_equal(o.body, cases[i].bytes);
    }
}

static void test_origins(void **state)
{
    static const char *const all[] = {"*", "http://localhost:3000", "https://a-b.example.org", "http://[::1]",
                                     "http://[::1]:8080"};
    char reason[SERVE_REASON];
    (void)state;
    assert_int_equal(read_text(""), RAPT_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(serve_keys_set(&o, "cors", all[i], reason), RAPT_OK);
}

static void test_model_names(void **state)
{
    char reason[SERVE_REASON];
    serve_model *m;
    (void)state;
    assert_int_equal(read_text(""), RAPT_OK);
    assert_int_equal(serve_keys_add_model(&o, "fran\xc3\xa7" "ais", "x", &m, reason), RAPT_OK);
    assert_int_equal(serve_keys_add_model(&o, "fran\xe7" "ais", "x", &m, reason), RAPT_ERR_VALUE);
    assert_non_null(strstr(reason, "cannot be the name"));
    assert_int_equal(serve_keys_add_model(&o, "a", "", &m, reason), RAPT_ERR_VALUE);
    assert_string_equal(reason, "the model 'a' has no path");
}

static void test_finish(void **state)
{
    char reason[SERVE_REASON];
    (void)state;
    assert_int_equal(read_text(""), RAPT_OK);
    assert_int_equal(serve_keys_finish(&o, reason), RAPT_ERR_VALUE);
    assert_string_equal(reason, "there is no model");
    assert_int_equal(read_text("models: {a: x}\ntls-key: k\n"), RAPT_OK);
    assert_int_equal(serve_keys_finish(&o, reason), RAPT_ERR_VALUE);
    assert_int_equal(read_text("models: {a: x}\ntls-key: k\ntls-cert: c\n"), RAPT_OK);
    assert_int_equal(serve_keys_finish(&o, reason), RAPT_OK);
    /* the command line comes after a file */
    assert_int_equal(read_text("weights: q8_0\n"), RAPT_OK);
    assert_int_equal(serve_keys_set(&o, "precision", "bf16", reason), RAPT_OK);
    assert_null(o.all.weights);
    assert_int_equal(o.all.precision, RAPT_TYPE_BF16);
}

static keys *read_keys(const char *text)
{
    read_text(text);
    err = (rapt_error){0};
    return keys_read(folder_in("serve.yaml"), &err);
}

static void test_api_keys(void **state)
{
    (void)state;
    keys *k = read_keys("# ours\n\nfirst-key\r\n \tsecond key \t \n  # ours, too\nlast");
    assert_non_null(k);
    assert_non_null(keys_owner(k, "first-key"));
    assert_non_null(keys_owner(k, "second key"));
    assert_non_null(keys_owner(k, "last"));
    assert_non_null(keys_owner(k, " last\t"));
    assert_null(keys_owner(k, "# ours, too"));
    assert_null(keys_owner(k, " "));
    assert_null(keys_owner(k, NULL));
    assert_null(keys_owner(k, ""));
    assert_null(keys_owner(k, "las"));
    assert_null(keys_owner(k, "lastt"));
    assert_null(keys_owner(k, "# ours"));
    assert_string_equal(keys_owner(k, "last"), "");
    keys_free(k);
    k = read_keys("one # Ann of Ants\ntwo#2\t#\tBob \nthree #\n");
    assert_string_equal(keys_owner(k, "one"), "Ann of Ants");
    assert_string_equal(keys_owner(k, "two#2"), "Bob");
    assert_string_equal(keys_owner(k, "three"), "");
    assert_null(keys_owner(k, "one # Ann of Ants"));
    assert_null(keys_owner(k, "Bob"));
    char longer[KEYS_MAX_BYTES + 2];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_null(keys_owner(k, longer));
    keys_free(k);
    assert_null(read_keys("# none\n"));
    assert_non_null(strstr(err.message, "there is no key"));
    assert_null(read_keys(longer));
    assert_non_null(strstr(err.message, ":1: a key has at most 256 bytes"));
    longer[KEYS_MAX_BYTES] = '\0';
    k = read_keys(longer);
    assert_non_null(keys_owner(k, longer));
    keys_free(k);
}

static int free_options(void **state)
{
    serve_options_free(&o);
    return folder_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),   cmocka_unit_test(test_empty),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_finish), cmocka_unit_test(test_origins),
        cmocka_unit_test(test_model_names), cmocka_unit_test(test_api_keys),
    };
    return cmocka_run_group_tests(tests, folder_make, free_options);
}

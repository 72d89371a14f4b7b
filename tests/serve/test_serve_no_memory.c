/* test_serve_no_memory.c: every allocation of a request without a socket, of serve.yaml and of a file of keys is made to fail in
 * turn: the failure is reported, a response is whole or none, and nothing crashes. Linked as tests/failing.h says; the copies of
 * texts that libc makes are not seen. */
#define _GNU_SOURCE
#include "failing.h"

#include "serve/module/http_exchange.h"
#include "serve/module/keys.h"
#include "serve/serve_config.h"

#include <string.h>

#include "folder.h"

/* All of it, from request to response; what could not be done for lack of memory is told. */
static rapt_code whole_exchange(void)
{
    const char *type, *name, *value;
    char bytes[64];
    bool end;
    size_t size;
    exchange *x = exchange_new("POST", "/v1/models?a=b&c=d%20e", NULL, NULL);
    if (!x)
        return RAPT_ERR_MEMORY;
    bool ok = exchange_set_header(x, "Host", "a") && exchange_set_header(x, "B", "c");
    for (int i = 0; ok && i < 40; i++)
        ok = exchange_add_body(x, "0123456789", 10);
    if (ok) {
        exchange_add_header(x, "X", "y");
        exchange_reply(x, 200, "text/plain", "hello", 5);
        const int status = exchange_status(x, &type);
        ok = status == 200;
        assert_true(ok || status == 500 || exchange_is_dropped(x));
        if (ok) { /* as it was given */
            assert_true(exchange_response_header(x, 0, &name, &value));
            assert_true(exchange_is_whole(x, &size) && size == 5);
            assert_int_equal(exchange_take(x, bytes, sizeof bytes, &end), 5);
            assert_true(end);
        }
    }
    exchange_detach(x);
    exchange_release(x);
    return ok ? RAPT_OK : RAPT_ERR_MEMORY;
}

/* A stream: a part that there is no memory for ends it. */
static rapt_code streamed_exchange(void)
{
    bool ok = true;
    exchange *x = exchange_new("GET", "/", NULL, NULL);
    if (!x)
        return RAPT_ERR_MEMORY;
    exchange_begin(x, 200, "text/event-stream");
    for (int i = 0; ok && i < 100; i++)
        ok = exchange_write(x, "data: some of a text\n\n", 22);
    assert_true(ok || (exchange_is_dropped(x) && exchange_gone(x)));
    exchange_end(x);
    exchange_release(x);
    return ok ? RAPT_OK : RAPT_ERR_MEMORY;
}

static void fail_each(const char *what, long at_least, rapt_code (*scenario)(void))
{
    failing f = {.what = what, .at_least = at_least, .uncounted = true};
    do {
        failing_arm(&f);
    } while (failing_again(&f, scenario()));
}

static void test_exchanges(void **state)
{
    (void)state;
    fail_each("a whole response", 8, whole_exchange);
    fail_each("a stream", 4, streamed_exchange);
}

static void put_file(const char *name, const char *text)
{
    FILE *file = fopen(folder_in(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static rapt_code read_config(void)
{
    rapt_error err = {0};
    serve_options o;
    if (!serve_options_default(&o))
        return RAPT_ERR_MEMORY;
    const rapt_code code = serve_config_read(&o, folder_in("serve.yaml"), &err);
    serve_options_free(&o);
    return code;
}

static rapt_code read_keys(void)
{
    rapt_error err = {0};
    keys *k = keys_read(folder_in("keys"), &err);
    assert_int_equal(k ? RAPT_OK : RAPT_ERR_MEMORY, err.code);
    keys_free(k);
    return err.code;
}

static void test_files(void **state)
{
    (void)state;
    put_file("serve.yaml", "host: localhost\ncors: [http://a, http://b]\nmodels:\n  a: x\n  b: {path: y, weights: q8_0}\n");
    put_file("keys", "one\ntwo\nthree\n");
    fail_each("serve.yaml", 3, read_config);
    fail_each("keys", 3, read_keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_exchanges, failing_check_link),
        cmocka_unit_test_setup_teardown(test_files, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

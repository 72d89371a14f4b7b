/* tests/serve/test_forwarded.c: the address of a client behind proxies: only what a trusted one has written counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/module/http_parts.h"

static void clients_behind_proxies(void **state)
{
    static const struct {
        const char *address, *field, *client; /* client "": the connection's own */
    } cases[] = {
        {"10.0.0.1", "192.0.2.7", "192.0.2.7"},
        {"10.0.0.1", "198.51.100.1, 192.0.2.7", "192.0.2.7"}, /* what comes before is the client's word */
        {"10.0.0.1", "192.0.2.7 ,\t10.0.0.2", "192.0.2.7"},
        {"10.0.0.1", "10.0.0.2", "10.0.0.2"},
        {"10.0.0.1", "192.0.2.7:4711", "192.0.2.7"},
        {"10.0.0.1", "[2001:DB8:0::1]:80", "2001:db8::1"},
        {"10.0.0.1", "2001:db8::1", "2001:db8::1"},
        {"unix", "192.0.2.7", "192.0.2.7"},
        {"10.0.0.3", "192.0.2.7", ""}, /* no proxy of ours */
        {"10.0.0.1", NULL, ""}, {"10.0.0.1", "", ""}, {"10.0.0.1", "unknown", ""}, {"10.0.0.1", "192.0.2.7, _hidden", ""},
        {"10.0.0.1", "192.0.2.7, ", ""}, {"10.0.0.1", "[", ""}, {"10.0.0.1", "\x1b[2J", ""},
        {"10.0.0.1", "1111111111111111111111111111111111111111111111111111111111111111111111111", ""},
    };
    char first[] = "10.0.0.1", second[] = "10.0.0.2", third[] = "unix", *proxies[] = {first, second, third};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char client[FORWARDED_ADDRESS];
        assert_int_equal(forwarded_client(cases[i].address, cases[i].field, proxies, 3, client), *cases[i].client != 0);
        assert_string_equal(client, cases[i].client);
        assert_false(forwarded_client(cases[i].address, cases[i].field, proxies, 0, client));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clients_behind_proxies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

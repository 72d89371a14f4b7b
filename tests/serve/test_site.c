/* tests/serve/test_site.c: the names that a server has, and whose page asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/module/site.h"

static void hosts_by_reach(void **state)
{
    static const struct {
        const char *host;
        bool loopback, network; /* whether a server there has the name */
    } cases[] = {
        {"localhost", true, true}, {"LocalHost:8080", true, true}, {"localhost.", true, true}, {"a.localhost:1", true, true},
        {"127.0.0.1", true, true}, {"127.255.0.9:80", true, true}, {"[::1]", true, true}, {"[::1]:8080", true, true},
        {"[::ffff:127.0.0.1]", true, true}, {"0.0.0.0", false, true}, {"192.168.1.7:8080", false, true},
        {"[fe80::1]:1", false, true},
        {"server", false, true}, {"server.local", false, true}, {"a.b.internal:1", false, true}, {"a.home.arpa", false, true},
        {"evil.example", false, false}, {"evil.example:8080", false, false}, {"localhost.evil.example", false, false},
        {"127.0.0.1.nip.io", false, false}, {"notlocalhost.example", false, false}, {"xlocal.example", false, false},
        {"2130706433.example", false, false}, {"[::1].evil.example", false, false}, /* no browser sends these */
        {"[::1", false, false}, {"[::1]evil.example:1", false, false}, {"[localhost]", false, false}, {"[]", false, false},
        {"localhost:1.evil.example", false, false}, {"localhost:", true, true}, {":80", false, false}, {"", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (site_has_host(SITE_LOOPBACK, cases[i].host, NULL, 0) != cases[i].loopback ||
            site_has_host(SITE_NETWORK, cases[i].host, NULL, 0) != cases[i].network)
            fail_msg("%s", cases[i].host);
        assert_true(site_has_host(SITE_SOCKET, cases[i].host, NULL, 0));
    }
    char own[] = "Rapt.example", any[] = "*", *allowed[] = {own, any};
    assert_true(site_has_host(SITE_LOOPBACK, "rapt.EXAMPLE:443", allowed, 1));
    assert_false(site_has_host(SITE_LOOPBACK, "a.rapt.example", allowed, 1));
    assert_true(site_has_host(SITE_LOOPBACK, "a.rapt.example", allowed, 2));
}

static void origins_and_hosts(void **state)
{
    static const struct {
        const char *origin, *host;
        bool own;
    } cases[] = {
        {"http://127.0.0.1:8080", "127.0.0.1:8080", true}, {"https://a.example", "A.example", true},
        {"https://a.example", "a.example:443", true},      {"http://a.example", "a.example:80", true},
        {"http://a.example", "a.example:443", false},      {"http://[::1]:8080", "[::1]:8080", true},
        {"http://[::1]", "[::1]:80", true},                {"http://127.0.0.1:8081", "127.0.0.1:8080", false},
        {"http://localhost:8080", "127.0.0.1:8080", false}, {"https://a.example.evil", "a.example", false},
        {"https://evil.example", "a.example", false},      {"null", "a.example", false},
        {"https://a.example", NULL, false},                {"", "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (site_is_own(cases[i].origin, cases[i].host) != cases[i].own)
            fail_msg("%s, %s", cases[i].origin, cases[i].host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hosts_by_reach), cmocka_unit_test(origins_and_hosts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

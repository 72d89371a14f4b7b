/* text/unicode/unicode_script.c: scripts of code points. */
#include "text/unicode/script_table.h"
#include "text/unicode/unicode.h"
#include "text/unicode/unicode_runs.h"

#include <string.h>

enum { SCRIPT_BITS = 6 };

static const unicode_runs TABLE = UNICODE_RUNS(SCRIPT, SCRIPT_BITS);

unsigned unicode_script_named(const char *name, size_t length)
{
    for (unsigned i = 1; i < sizeof SCRIPTS / sizeof *SCRIPTS; i++)
        if (strlen(SCRIPTS[i]) == length && memcmp(SCRIPTS[i], name, length) == 0)
            return i;
    return 0;
}

unsigned unicode_script_run(uint32_t code, uint32_t *end)
{
    *end = code + 1;
    if (code >= UNICODE_END)
        return 0;
    size_t run = unicode_run_of(&TABLE, code);
    *end = run + 1 < TABLE.count ? SCRIPT_RUNS[run + 1] >> SCRIPT_BITS : UNICODE_END;
    return SCRIPT_RUNS[run] & ((1u << SCRIPT_BITS) - 1);
}

const char *unicode_script_name(uint32_t code)
{
    uint32_t end;
    unsigned script = unicode_script_run(code, &end);
    return script ? SCRIPTS[script] : NULL;
}

/* decode/schema/schema_formats.c: patterns of formats. Dates have no February 29, times no leap seconds. */
#include "decode/schema/schema_formats.h"

#include <stddef.h>
#include <string.h>

#define DATE \
    "[0-9]{3}[1-9]-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)" \
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
#define CLOCK "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
#define BYTE "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
#define LABEL "[a-z0-9](?:[a-z0-9-]{0,14}[a-z0-9])?"

static const char *const FORMATS[][2] = {
    {"date", "^" DATE "$"},
    {"time", "^" CLOCK "$"},
    {"date-time", "^" DATE "T" CLOCK "$"},
    {"duration", "^P(?:[0-9]{1,4}D(?:T[0-9]{1,4}S)?|[0-9]{1,4}W|T[0-9]{1,4}(?:H|M|S))$"},
    {"email", "^[A-Za-z0-9_]{1,32}(?:[.+-][A-Za-z0-9_]{1,16}){0,2}@" LABEL "(?:\\." LABEL "){1,3}$"},
    {"uuid", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
    {"ipv4", "^" BYTE "\\." BYTE "\\." BYTE "\\." BYTE "$"},
    {"hostname", "^" LABEL "(?:\\." LABEL "){1,3}$"},
    {"uri", "^https?://" LABEL "(?:\\." LABEL "){1,3}(?:/[A-Za-z0-9_.~-]{0,32}){0,4}$"},
};

const char *schema_format(const char *name)
{
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (strcmp(FORMATS[i][0], name) == 0)
            return FORMATS[i][1];
    return NULL;
}

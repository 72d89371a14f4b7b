/* cli/info_libraries.c: the versions of the libraries that this program runs with. Where they are linked statically, as in a
 * wheel and in a program of a single file, nothing else tells whoever looks for known defects. */
#include "cli/cmd_info.h"

#include "serve/serve.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>

enum { LIBRARIES = 6, VERSION = 64 };

typedef struct library {
    const char *name;
    char version[VERSION];
} library;

static library library_of(const char *name, const char *version)
{
    library l = {.name = name};
    snprintf(l.version, VERSION, "%s", version);
    return l;
}

/* Returns how many they are. */
static int find_libraries(library list[LIBRARIES])
{
    const unsigned xxhash = XXH_versionNumber();
    const char *http = serve_http_version();
    library *next = list;
    char pcre2[VERSION] = ""; /* "10.42 2022-12-11" */
    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) <= VERSION)
        pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
    pcre2[strcspn(pcre2, " ")] = '\0';
#if JANSSON_VERSION_HEX >= 0x020d00
    *next++ = library_of("jansson", jansson_version_str());
#else
    *next++ = library_of("jansson", JANSSON_VERSION);
#endif
    if (http)
        *next++ = library_of("libmicrohttpd", http);
    *next++ = library_of("libyaml", yaml_get_version_string());
    *next++ = library_of("pcre2", pcre2);
    *next = library_of("xxhash", "");
    snprintf(next++->version, VERSION, "%u.%u.%u", xxhash / 10000, xxhash / 100 % 100, xxhash % 100);
    *next++ = library_of("zlib", zlibVersion());
    return (int)(next - list);
}

json_t *info_libraries_json(void)
{
    library list[LIBRARIES];
    json_t *versions = json_object();
    const int count = find_libraries(list);
    for (int i = 0; versions && i < count; i++)
        json_object_set_new(versions, list[i].name, json_string(list[i].version));
    return versions;
}

void info_show_libraries(void)
{
    library list[LIBRARIES];
    const int count = find_libraries(list);
    printf("libraries ");
    for (int i = 0; i < count; i++)
        printf("%s%s %s", i > 0 ? ", " : "", list[i].name, list[i].version);
    putchar('\n');
}

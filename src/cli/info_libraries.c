/* cli/info_libraries.c: the versions of the libraries that this program runs with. Where they are linked statically, as in a
 * wheel and in a program of a single file, nothing else tells whoever looks for known defects. */
#include "cli/cmd_info.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <yaml.h>
#include <zlib.h>

enum { LIBRARIES = 5, VERSION = 64 };

typedef struct library {
    const char *name;
    char version[VERSION];
} library;

static void find_libraries(library list[LIBRARIES])
{
    const unsigned xxhash = XXH_versionNumber();
    char pcre2[VERSION] = ""; /* "10.42 2022-12-11" */
    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) <= VERSION)
        pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
    pcre2[strcspn(pcre2, " ")] = '\0';
    for (int i = 0; i < LIBRARIES; i++)
        list[i].name = (const char *const[LIBRARIES]){"jansson", "libyaml", "pcre2", "xxhash", "zlib"}[i];
#if JANSSON_VERSION_HEX >= 0x020d00
    snprintf(list[0].version, VERSION, "%s", jansson_version_str());
#else
    snprintf(list[0].version, VERSION, "%s", JANSSON_VERSION);
#endif
    snprintf(list[1].version, VERSION, "%s", yaml_get_version_string());
    snprintf(list[2].version, VERSION, "%s", pcre2);
    snprintf(list[3].version, VERSION, "%u.%u.%u", xxhash / 10000, xxhash / 100 % 100, xxhash % 100);
    snprintf(list[4].version, VERSION, "%s", zlibVersion());
}

json_t *info_libraries_json(void)
{
    library list[LIBRARIES];
    json_t *versions = json_object();
    find_libraries(list);
    for (int i = 0; versions && i < LIBRARIES; i++)
        json_object_set_new(versions, list[i].name, json_string(list[i].version));
    return versions;
}

void info_show_libraries(void)
{
    library list[LIBRARIES];
    find_libraries(list);
    printf("libraries ");
    for (int i = 0; i < LIBRARIES; i++)
        printf("%s%s %s", i > 0 ? ", " : "", list[i].name, list[i].version);
    putchar('\n');
}

/* cli/info_json.c: prints the JSON of both halves of `rapt info`; see cmd_info.h. */
#include "cli/cmd_info.h"

#include "cli/cli.h"
#include "text/json_text.h"

#include <stdio.h>
#include <stdlib.h>

int info_print_json(json_t *o)
{
    rapt_error err = {0};
    char *text = json_text(o, JSON_INDENT(2));
    json_decref(o);
    if (!text) {
        rapt_fail(&err, RAPT_ERR_MEMORY, "out of memory for JSON");
        return cli_fail(&err);
    }
    puts(text);
    free(text);
    return 0;
}

/* cli/info_json.c: prints the JSON of both halves of `rapt info`; see cmd_info.h. */
#include "cli/cmd_info.h"

#include "cli/cli.h"
#include "cli/put_json.h"

int info_print_json(json_t *o)
{
    rapt_error err = {0};
    return put_json(o, JSON_INDENT(2), &err) ? cli_fail(&err) : 0;
}

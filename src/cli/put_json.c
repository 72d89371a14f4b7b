/* cli/put_json.c: prints JSON. */
#include "cli/put_json.h"

#include "text/json_text.h"

#include <stdio.h>
#include <stdlib.h>

rapt_code put_json(json_t *object, size_t flags, rapt_error *err)
{
    char *text = json_text(object, flags);
    json_decref(object);
    if (!text)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a JSON object");
    puts(text);
    free(text);
    return RAPT_OK;
}

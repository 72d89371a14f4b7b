/* tests/fuzz/fuzz_chat.c: any bytes as a chat template, which is then given a conversation that has the template in it.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "text/chat/jinja.h"
#include "text/utf8.h"

/* Texts are UTF-8, failures of one line. */
static void check_render(const jinja_template *t, const json_t *variables)
{
    rapt_error err = {0};
    char *text;
    size_t size;
    rapt_code code = jinja_template_render(t, variables, &(jinja_bounds){.now = 1721999109}, &text, &size, &err);
    require_outcome(code == RAPT_OK, &err);
    require((code == RAPT_OK) == (text != NULL));
    require(!text || (text[size] == '\0' && utf8_valid_prefix(text, size) == size));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    rapt_error err = {0};
    jinja_template *t = jinja_template_new("fuzz", (const char *)input, size, &err);
    require_outcome(t != NULL, &err);
    if (t) {
        json_t *variables = json_pack("{s:[{s:s, s:s%}, {s:s, s:s}], s:n, s:b, s:s}", "messages", "role", "user", "content",
                                      (const char *)input, size, "role", "assistant", "content", "b\xc3\xa9 c", "tools",
                                      "add_generation_prompt", 1, "bos_token", "<s>");
        require(variables != NULL);
        check_render(t, variables);
        json_decref(variables);
    }
    jinja_template_free(t);
    return 0;
}

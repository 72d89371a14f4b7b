/* examples/generate.c: generate text from a prompt, streaming.  Usage: generate MODEL PROMPT */
#include <rapt.h>
#include <stdio.h>

/* Gets whole characters. Another result than RAPT_OK would end the text. */
static rapt_code print(void *context, const char *text, size_t size, rapt_error *err)
{
    fwrite(text, 1, size, context);
    return fflush(context) ? rapt_fail(err, RAPT_ERR_IO, "cannot write the text") : RAPT_OK;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    rapt_error err = {0};
    rapt_generate_options options = rapt_generate_options_default();
    options.max_tokens = 100;
    options.sample.temperature = 0.5;
    options.sample.top_k = 50;
    options.on_text = print;
    options.context = stdout;
    rapt_model *model = rapt_model_load(argv[1], NULL, &err);
    if (model && rapt_generate(model, argv[2], &options, NULL, &err) == RAPT_OK)
        putchar('\n');
    rapt_model_free(model);
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    return err.code != RAPT_OK;
}

/* examples/generate.c: go on with a text, printed as it comes.  Usage: generate MODEL PROMPT */
#include <rapt.h>
#include <stdio.h>
#include <string.h>

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
    rapt_generate_options options = {.max_tokens = 100, .sample = {.temperature = 0.5, .top_k = 50, .seed = 1}};
    rapt_model *model = rapt_model_load_task(argv[1], RAPT_TASK_LANGUAGE_MODEL, &err);
    rapt_tape *tape = model ? rapt_tape_new(NULL, &err) : NULL;
    if (tape) {
        rapt_generate(tape, model->lm, model->tokenizer, argv[2], strlen(argv[2]), &options, print, stdout, &err);
        putchar('\n');
    }
    rapt_tape_free(tape);
    rapt_model_free(model);
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    return err.code != RAPT_OK;
}

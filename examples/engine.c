/* examples/engine.c: one engine continues several prompts together.  Usage: engine MODEL PROMPT... */
#include <rapt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread of the engine calls it, once for each text. */
static void print(void *context, const rapt_engine_generated *end)
{
    const char *prompt = context;
    if (end->code)
        fprintf(stderr, "%s: %s\n", prompt, end->message);
    else
        printf("%s%s\n", prompt, end->result->text);
}

static rapt_code queue_prompt(rapt_engine_model *m, char *prompt, rapt_engine_job **job, rapt_error *err)
{
    const rapt_tokenizer *tokenizer = rapt_model_source_tokenizer(rapt_engine_model_of(m));
    rapt_generate_options options = rapt_generate_options_default();
    options.max_tokens = 40;
    rapt_encode_options encode = rapt_encode_options_default();
    encode.specials = true;
    rapt_engine_generation request = {.options = &options, .on_done = print, .context = prompt};
    int32_t *ids = NULL;
    rapt_code code = rapt_tokenizer_encode_bytes(tokenizer, prompt, strlen(prompt), &encode, &ids, &request.count, err);
    request.tokens = ids;
    if (code == RAPT_OK)
        code = rapt_engine_generate(m, &request, job, err);
    free(ids);
    return code;
}

int main(int argc, char **argv)
{
    enum { JOBS = 16 };
    if (argc < 3 || argc - 2 > JOBS)
        return 2;
    rapt_error err = {0};
    rapt_engine_job *jobs[JOBS] = {0};
    rapt_model *model = rapt_model_load(argv[1], NULL, &err);
    rapt_engine *engine = model ? rapt_engine_new(NULL, &err) : NULL;
    rapt_engine_model *m = engine ? rapt_engine_add(engine, model, NULL, &err) : NULL; /* the model is the engine's now */
    if (model && !engine)
        rapt_model_free(model);
    for (int i = 2; m && i < argc && err.code == RAPT_OK; i++)
        queue_prompt(m, argv[i], &jobs[i - 2], &err);
    for (int i = 0; i < JOBS; i++)
        rapt_engine_job_free(jobs[i]); /* waits until `print` has returned */
    rapt_engine_free(engine);
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    return err.code != RAPT_OK;
}

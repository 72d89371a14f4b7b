/* examples/translate.c: translate one sentence with a trained model.  Usage: translate MODEL SENTENCE */
#include <rapt.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    rapt_error err = {0};
    const char *lines[] = {argv[2]};
    rapt_translation out[1];
    rapt_translate_options options = rapt_translate_options_default();
    options.beam = 4;
    options.length_penalty = 0.6;
    rapt_model *model = rapt_model_load(argv[1], NULL, &err);
    if (model && rapt_translate(model, lines, 1, &options, out, &err) == RAPT_OK) {
        printf("%s\n", out[0].hypotheses[0].text);
        rapt_translations_free(out, 1);
    }
    rapt_model_free(model);
    if (err.code)
        fprintf(stderr, "%s\n", err.message);
    return err.code != RAPT_OK;
}

/* io/hub/hub_cross_encoder.c: config.json of cross-encoders: classifiers with one label, whose score may be a function of the
 * logit. The keys are of transformers and of sentence-transformers' CrossEncoder. */
#include "io/hub/hub_family.h"

#include <string.h>

bool hub_is_cross_encoder(const hub_family *family, const json_t *config)
{
    const char *name = json_string_value(json_array_get(json_object_get(config, "architectures"), 0));
    const size_t length = strlen(family->architecture);
    return family->scores && name && strncmp(name, family->architecture, length) == 0 &&
           strcmp(name + length, "ForSequenceClassification") == 0;
}

/* transformers counts the names of the labels unless the number is there; without both there are two. */
static void read_labels(hub_config *c, rapt_transformer_config *k)
{
    const json_t *names = json_object_get(c->root, "id2label");
    const size_t named = json_is_object(names) && json_object_size(names) > 0 ? json_object_size(names) : 2;
    const bool numbered = hub_value(c, "num_labels") != NULL;
    k->labels = hub_size(c, "num_labels", named);
    if (k->labels != 1)
        hub_refuse(c, numbered ? "num_labels" : "id2label", "of classifiers rapt runs those of one label, cross-encoders");
}

void hub_read_activation(hub_config *c, const char *key, bool *sigmoid)
{
    static const struct {
        const char *name;
        bool sigmoid;
    } known[] = {{"torch.nn.modules.activation.Sigmoid", true}, {"torch.nn.modules.linear.Identity", false},
                 {"torch.nn.Sigmoid", true}, {"torch.nn.Identity", false}};
    const char *name = hub_word(c, key, NULL);
    bool found = !name;
    for (size_t i = 0; i < sizeof known / sizeof *known && name; i++)
        if (strcmp(name, known[i].name) == 0) {
            *sigmoid = known[i].sigmoid;
            found = true;
        }
    if (!found)
        hub_refuse(c, key, "rapt computes the scores of Sigmoid and of Identity");
}

void hub_read_cross_encoder(hub_config *c, rapt_transformer_config *k, bool *sigmoid)
{
    const json_t *settings = hub_value(c, "sentence_transformers");
    read_labels(c, k);
    *sigmoid = true;
    hub_read_activation(c, "sbert_ce_default_activation_function", sigmoid);
    if (settings && !json_is_object(settings))
        hub_refuse(c, "sentence_transformers", "it must be an object");
    hub_config inner = {.root = settings, .path = c->path, .err = c->err, .code = c->code};
    hub_read_activation(&inner, "activation_fn", sigmoid);
    hub_ignore(&inner, (const char *const[]){"version", NULL});
    if (json_is_object(settings))
        hub_refuse_others(&inner);
    c->code = inner.code;
}

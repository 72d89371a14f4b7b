/* examples/input.c: the two inputs that the programs of the book share. The vectors are computed as in
 * chapters 1 and 2 (01_embedding.c, 02_positions.c). */
#include "input.h"

enum { BATCH = 32, TIME = 50, FEATURES = 512, VOCABULARY = 10000, POSITIONS = 100 };

/* A position later than the token is its label, so each row has one more than a window. */
static const int32_t sales_rows[SALES_BATCH][SALES_TIME + 1] = {
    {420, 12735, 22262, 311, 26458, 6763, 15749, 449, 279, 5995, 7526, 323, 6677, 311, 21546, 17436, 15082},
    {11, 279, 5845, 311, 3493, 2867, 323, 64694, 41941, 374, 74510, 13, 48023, 10758, 374, 7718, 369},
    {38821, 287, 311, 279, 1828, 6566, 315, 279, 6763, 1920, 512, 29401, 7922, 16940, 65931, 323, 32097},
    {11, 323, 3493, 13687, 2038, 13, 3296, 21356, 45296, 701, 31638, 11, 6444, 690, 7095, 430, 499}};

const char *const input_sales_words[SALES_TIME] = {"this", "chapter", "aims", "to", "equip", "sales", "professionals",
    "with", "the", "necessary", "tools", "and", "knowledge", "to", "navigate", "challenging"};

static rapt_tensor *preprocess(rapt_tape *t, rapt_params *set, const char *prefix, rapt_tokens tokens,
                               size_t vocabulary, size_t features, size_t positions)
{
    rapt_preprocessor m;
    if (!tokens.ids)
        return rapt_tape_fail(t, RAPT_ERR_MEMORY, "out of memory for tokens");
    rapt_preprocessor_init(&m, set, prefix, vocabulary, features, positions, &(rapt_preprocessor_options){.no_scale = true});
    return rapt_preprocess(t, &m, tokens, 0);
}

/* Uniform numbers from -1 to 1 become tokens, so the set's seed decides them. */
rapt_tokens input_batch_tokens(rapt_params *set)
{
    rapt_init uniform = {RAPT_INIT_UNIFORM, 1};
    rapt_param *numbers = rapt_params_add(set, "batch.tokens", 2, (size_t[]){BATCH, TIME}, uniform);
    int32_t *ids = rapt_params_alloc(set, BATCH * TIME, sizeof *ids);
    for (size_t i = 0; ids && i < rapt_tensor_size(&numbers->value); i++)
        ids[i] = (int32_t)((numbers->value.data[i] + 1) * (VOCABULARY - 1) / 2);
    return (rapt_tokens){.ids = ids, .batch = BATCH, .time = TIME};
}

rapt_tensor *input_batch(rapt_tape *t, rapt_params *set)
{
    return preprocess(t, set, "batch.", input_batch_tokens(set), VOCABULARY, FEATURES, POSITIONS);
}

static rapt_tokens sales(rapt_params *set, size_t first)
{
    int32_t *ids = rapt_params_alloc(set, SALES_BATCH * SALES_TIME, sizeof *ids);
    for (size_t i = 0; ids && i < SALES_BATCH * SALES_TIME; i++)
        ids[i] = sales_rows[i / SALES_TIME][first + i % SALES_TIME];
    return (rapt_tokens){.ids = ids, .batch = SALES_BATCH, .time = SALES_TIME};
}

rapt_tokens input_sales_tokens(rapt_params *set) { return sales(set, 0); }
rapt_tokens input_sales_labels(rapt_params *set) { return sales(set, 1); }

input_windows input_sales_numbered(rapt_params *set)
{
    enum { COUNT = SALES_BATCH * SALES_TIME };
    input_windows s = {.inputs = input_sales_tokens(set), .labels = input_sales_labels(set)};
    int32_t seen[2 * COUNT], *ids[2];
    for (int i = 0; i < 2; i++)
        ids[i] = rapt_params_alloc(set, COUNT, sizeof *ids[i]);
    for (size_t i = 0; ids[0] && ids[1] && s.inputs.ids && s.labels.ids && i < 2 * COUNT; i++) {
        int32_t token = (i % 2 ? s.labels : s.inputs).ids[i / 2];
        size_t id = 0;
        while (id < s.vocabulary && seen[id] != token)
            id++;
        if (id == s.vocabulary)
            seen[s.vocabulary++] = token;
        ids[i % 2][i / 2] = (int32_t)id;
    }
    s.inputs.ids = ids[0];
    s.labels.ids = ids[1];
    return s;
}

rapt_tensor *input_sales(rapt_tape *t, rapt_params *set)
{
    return preprocess(t, set, "sales.", input_sales_tokens(set), SALES_VOCABULARY, SALES_FEATURES, SALES_TIME);
}

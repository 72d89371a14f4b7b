/* tests/fuzz/fuzz_conversations.c: any bytes as a file of conversations or preferences, all the way to batches: lines, messages,
 * a chat template, tokens, which of them carry loss, data set, loader.
 * For libFuzzer: tests/fuzz/run.sh.
 * Not a unit test: it asserts only what holds for every input. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include "options.h"
#include "data/conversation_set.h"
#include "data/dataset.h"
#include "rapt/tape.h"

enum { CONTEXT = 20, BATCH = 3, PACKED = 2 * CONTEXT, END = 257 };

/* Answers become shorter when others follow them, if they begin with x: the template cannot mark those. */
static const char TEMPLATE[] = "{% for m in messages %}<|begin|>{{ m.role }}\n"
                               "{{ m.content if loop.last or m.content[0] != 'x' else m.content[0] }}<|end|>{% endfor %}"
                               "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}";

static rapt_tokenizer *tokenizer;
static rapt_chat_template *chat;

static void load_once(void)
{
    if (tokenizer)
        return;
    fuzz_folder_make();
    fuzz_put("chat_template.jinja", TEMPLATE, strlen(TEMPLATE));
    tokenizer = rapt_tokenizer_load(RAPT_SOURCE_DIR "/tests/golden/hub/llama/tokenizer.json", NULL);
    chat = rapt_chat_template_load(fuzz_folder, NULL);
    require(tokenizer && chat);
}

/* Labels are the next inputs or none; each row has one that counts, at least. */
static size_t check_batch(const rapt_batch *b, size_t most, bool packed)
{
    size_t counted = 0, tokens = 0;
    require(b && b->inputs.batch >= 1 && (packed || b->inputs.batch <= most) && b->inputs.time <= CONTEXT);
    for (size_t i = 0; i < b->inputs.batch; i++) {
        const int32_t *in = b->inputs.ids + i * b->inputs.time, *label = b->labels.ids + i * b->inputs.time;
        const size_t n = (size_t)b->target_lens[i], before = counted;
        require(n >= 1 && n <= b->inputs.time);
        for (size_t j = 0; j < n; j++) {
            require(rapt_tokenizer_token(tokenizer, in[j], NULL) != NULL);
            require(label[j] == RAPT_NO_LABEL || rapt_tokenizer_token(tokenizer, label[j], NULL) != NULL);
            require(j + 1 == n || label[j] == RAPT_NO_LABEL || label[j] == in[j + 1]);
            counted += label[j] != RAPT_NO_LABEL;
        }
        require(counted > before);
        tokens += n;
    }
    require(!packed || tokens < 2 * PACKED + most / BATCH * CONTEXT);
    require(counted == b->tokens);
    return b->inputs.batch;
}

static void check_set(const rapt_dataset *d, bool packed)
{
    rapt_error err = {0};
    const size_t each = d->rejected ? 2 : 1;
    rapt_loader *l = rapt_loader_new(d, &LOADER(.batch_size = BATCH, .batch_tokens = packed ? PACKED : 0, .shuffle = true,
                                                .seed = 3), &err);
    size_t seen = 0;
    require_outcome(l != NULL, &err);
    for (size_t i = 0; i < rapt_loader_batches(l); i++)
        seen += check_batch(rapt_loader_batch(l, 1, i), BATCH * each, packed);
    require(seen == each * rapt_dataset_count(d));
    rapt_loader_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char path[64];
    rapt_error err = {0};
    load_once();
    int fd = fuzz_file(input, size, path);
    conversation_file *f = conversation_file_open(path, &err);
    require_outcome(f != NULL, &err);
    const bool preferences = f && conversation_file_has_preferences(f);
    for (int policy = RAPT_TOO_LONG_CUT; f && policy <= RAPT_TOO_LONG_ERROR; policy++) {
        rapt_error why = {0};
        const conversation_set_options o = {
            .rule = {.tokenizer = tokenizer, .chat = chat, .end = END, .all = !preferences && policy == RAPT_TOO_LONG_DROP},
            .context = CONTEXT, .too_long = (rapt_too_long)policy, .validation_fraction = policy == RAPT_TOO_LONG_ERROR ? 0.5 : 0,
            .packed = policy == RAPT_TOO_LONG_CUT, .preferences = preferences};
        rapt_dataset *d = conversation_set_new(f, &o, &why);
        require_outcome(d != NULL, &why);
        if (d)
            check_set(d, o.packed);
        rapt_dataset_free(d);
    }
    conversation_file_close(f);
    close(fd);
    return 0;
}

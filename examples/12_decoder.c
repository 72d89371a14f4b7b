/* examples/12_decoder.c: chapter 12 of docs/book: the decoder attends to its own earlier words and to the encoder's
 * output: all words at once in training, one after the other in prediction.  Usage: 12_decoder [--table] */
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, TIME = 10, SOURCE_WORDS = 184, TARGET_WORDS = 201, FEATURES = 32 };

/* With queries and keys of 0 every key that is seen counts alike: attention is the mean of what came so far. */
static void on_paper(rapt_tape *t, rapt_params *set)
{
    rapt_multi_head_attention m;
    rapt_mask causal = {.causal = true}, valid = {.valid_lens = (int32_t[]){2}};
    rapt_attention_options options = {.hidden = 2, .heads = 1, .init = RAPT_WEIGHT_INIT_ZEROS};
    rapt_multi_head_attention_init(&m, set, "paper.", &options);
    rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){1, 3, 2}, (rapt_real[]){4, 0, 0, 2, 2, 4}, false);
    rapt_tensor *memory = rapt_tape_input(t, 3, (size_t[]){1, 3, 2}, (rapt_real[]){1, 0, 0, 1, 9, 9}, false);
    printf("-- on paper --\n");
    if (!show_ready(t, set))
        return;
    memcpy(m.v.weight->value.data, (rapt_real[]){1, 0, 0, 1}, 4 * sizeof(rapt_real));
    memcpy(m.o.weight->value.data, (rapt_real[]){1, 0, 0, 1}, 4 * sizeof(rapt_real));
    rapt_tensor *back = rapt_multi_head_attention_forward(t, &m, x, x, x, &causal);
    rapt_tensor *across = rapt_multi_head_attention_forward(t, &m, x, memory, memory, &valid);
    if (!show_ready(t, set))
        return;
    show_corner("x", x);
    show_corner("looking back", back);
    show_corner("encoder's output", memory);
    show_corner("looking across", across);
    show_check("means of one, two, three words: 4 0, 2 1, 2 2",
               show_difference(6, back->data, (rapt_real[]){4, 0, 2, 1, 2, 2}) < 1e-6);
    show_check("the mean of the two words that count: 0.5 0.5, each time",
               show_difference(6, across->data, (rapt_real[]){0.5, 0.5, 0.5, 0.5, 0.5, 0.5}) < 1e-6);
}

/* The book's example: an encoder block and a decoder block over 2 sentences of 100 positions. */
static void one_block(rapt_tape *t, rapt_params *set)
{
    rapt_encoder_block encoder;
    rapt_decoder_block decoder;
    rapt_block_config c = {.d_model = 24, .heads = 8, .ffn = 48, .dropout = 0.5, .init = RAPT_WEIGHT_INIT_PYTORCH};
    rapt_encoder_block_init(&encoder, set, "encoder_block.", &c);
    rapt_decoder_block_init(&decoder, set, "decoder_block.", &c);
    rapt_param *one = rapt_params_add(set, "ones", 3, (size_t[]){2, 100, 24}, (rapt_init){RAPT_INIT_ONES, 0});
    int32_t lens[2] = {3, 2};
    rapt_tensor *memory = rapt_encoder_block_forward(t, &encoder, &one->value, lens);
    rapt_decoder_memory across = {.output = memory, .lens = lens};
    rapt_tensor *y = rapt_decoder_block_forward(t, &decoder, &one->value, &across, NULL, 0);
    printf("\n-- one block --\n");
    if (!show_ready(t, set))
        return;
    show_shape("x", &one->value);
    show_shape("encoder's output", memory);
    show_shape("output", y);
    show_check("the output has the shape of the input", rapt_tensor_same_shape(y, &one->value));
}

/* ---- a batch of sentence pairs ------------------------------------------------------------------------------ */

static const char *const source_words[TIME] = {"we", "listen", "before", "we", "speak", ".", "<eos>", "<pad>", "<pad>",
                                               "<pad>"};
static const char *const target_words[TIME] = {"<bos>", "nous", "écoutons", "avant", "de", "parler", ".", "<eos>",
                                               "<pad>", "<pad>"};

typedef struct batch {
    int32_t source[BATCH * TIME], target[BATCH * TIME], lens[BATCH]; /* lens: lengths of the sources */
} batch;

/* The first pair is the one above; the others have words like numbers drawn from a hat. */
static void make_batch(batch *p)
{
    static const int32_t first[2][TIME] = {{4, 5, 6, 4, 7, 8, 3, 1, 1, 1}, {2, 4, 5, 6, 7, 8, 9, 3, 1, 1}};
    for (int i = 0; i < BATCH * TIME; i++) {
        int b = i / TIME, at = i % TIME;
        p->lens[b] = b ? 4 + b % 7 : 7;
        p->source[i] = at < p->lens[b] ? 4 + (b * 37 + at * 101) % (SOURCE_WORDS - 4) : RAPT_PAD;
        p->target[i] = at ? 4 + (b * 53 + at * 71) % (TARGET_WORDS - 4) : RAPT_BOS;
    }
    memcpy(p->source, first[0], sizeof first[0]);
    memcpy(p->target, first[1], sizeof first[1]);
}

static rapt_tokens tokens_of(const int32_t *ids) { return (rapt_tokens){ids, BATCH, TIME, NULL}; }

/* The sizes that the book trains with. Initialized with deviation 1 / sqrt(32), as they are multiplied by sqrt(32). */
static rapt_transformer *new_model(rapt_error *err)
{
    rapt_block_config block = {.d_model = FEATURES, .heads = 4, .ffn = 64, .dropout = 0.1};
    rapt_transformer_config c = {.source_vocab = SOURCE_WORDS, .target_vocab = TARGET_WORDS, .layers = 2,
                                 .max_positions = 1000, .block = block, .scale_embedding = true,
                                 .embedding_std = 1 / sqrt(FEATURES)};
    return rapt_transformer_new(&c, 1, err);
}

/* Sums of 1 in each row, and 0 for every key from lens[row] on. */
static bool are_weights(const rapt_tensor *weights, const int32_t *lens, bool per_query)
{
    size_t keys = weights->shape[3], queries = weights->shape[2], heads = weights->shape[1];
    bool good = true;
    for (size_t row = 0; row < rapt_tensor_rows(weights); row++) {
        double sum = 0;
        size_t seen = (size_t)lens[per_query ? row % queries : row / (heads * queries)];
        for (size_t j = 0; j < keys; j++) {
            sum += (double)weights->data[row * keys + j];
            good = good && (j < seen || weights->data[row * keys + j] == 0);
        }
        good = good && fabs(sum - 1) < 1e-5;
    }
    return good;
}

/* The book's way to say "no later word": query i of each sentence sees i + 1 keys. */
static void lengths_per_query(rapt_tape *t, const rapt_transformer *m, const rapt_tensor *x)
{
    int32_t lens[BATCH * TIME];
    for (int i = 0; i < BATCH * TIME; i++)
        lens[i] = i % TIME + 1;
    const rapt_multi_head_attention *self = &m->decoder.blocks[0].self_attention;
    rapt_tensor *h = rapt_tape_input(t, 3, x->shape, x->data, false);
    rapt_mask by_query = {.valid_lens = lens, .per_query = true}, causal = {.causal = true};
    rapt_tensor *a = rapt_multi_head_attention_forward(t, self, h, h, h, &by_query);
    rapt_tensor *b = rapt_multi_head_attention_forward(t, self, h, h, h, &causal);
    if (!show_ready(t, m->params))
        return;
    show_ids("dec_valid_lens, of each sentence", (rapt_tokens){lens, 1, TIME, NULL});
    show_check("as a mask they do what .causal = true does, to the bit",
               show_difference(rapt_tensor_size(a), a->data, b->data) == 0);
}

/* No logit before position 5 of a sentence changes where its words from there on are others. */
static void later_words(rapt_tape *t, const rapt_transformer *m, const batch *p, rapt_tensor *memory,
                        const rapt_tensor *logits)
{
    int32_t other[BATCH * TIME];
    for (int i = 0; i < BATCH * TIME; i++)
        other[i] = i % TIME < 5 ? p->target[i] : 17;
    rapt_tensor *changed = rapt_decoder_forward(t, &m->decoder, tokens_of(other), memory, p->lens);
    if (!show_ready(t, m->params))
        return;
    bool same = true, differs = true;
    for (size_t b = 0; b < BATCH; b++) {
        size_t at = b * TIME * TARGET_WORDS, half = 5 * TARGET_WORDS;
        same = same && show_difference(half, logits->data + at, changed->data + at) == 0;
        differs = differs && show_difference(half, logits->data + at + half, changed->data + at + half) > 1e-3;
    }
    show_check("other words from position 5 on change no logit before it", same);
    show_check("but they do change those after it", differs);
}

static void in_training(rapt_tape *t, const rapt_transformer *m, const batch *p)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, tokens_of(p->source), p->lens);
    rapt_tensor *logits = rapt_decoder_forward(t, &m->decoder, tokens_of(p->target), memory, p->lens);
    printf("\n-- in training: 64 sentences of 10 words at once --\n");
    if (!show_ready(t, m->params))
        return;
    const rapt_tensor *back = rapt_tape_attention(t, "decoder.0.self_attention");
    const rapt_tensor *across = rapt_tape_attention(t, "decoder.0.cross_attention");
    int32_t up_to[TIME] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    show_shape("encoder's output", memory);
    show_shape("logits", logits);
    show_corner("logits", logits);
    show_shape("weights of block 0, looking back", back);
    show_shape("weights of block 0, looking across", across);
    show_check("rows of weights sum to 1; nothing falls on a later word", are_weights(back, up_to, true));
    show_check("and nothing on the padding of the source", are_weights(across, p->lens, false));
    lengths_per_query(t, m, memory);
    later_words(t, m, p, memory, logits);
}

/* Is it what training computed for this position? */
static bool matches(const rapt_tensor *step, const rapt_real *whole, size_t position)
{
    bool same = true;
    for (size_t b = 0; b < BATCH; b++)
        same = same && memcmp(step->data + b * TARGET_WORDS, whole + (b * TIME + position) * TARGET_WORDS,
                              TARGET_WORDS * sizeof *whole) == 0;
    return same;
}

/* One position after the other. Keys and values of those before are in the state's KV cache. */
static void step_by_step(rapt_tape *t, const rapt_transformer *m, const batch *p, rapt_decoder_state *state,
                         const rapt_real *whole)
{
    bool same = true;
    for (size_t i = 0; i < TIME; i++) {
        int32_t word[BATCH];
        for (size_t b = 0; b < BATCH; b++)
            word[b] = p->target[b * TIME + i];
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tensor *logits = rapt_decoder_step(t, &m->decoder, state, (rapt_tokens){word, BATCH, 1, NULL});
        if (!show_ready(t, m->params))
            return;
        if (i == 0)
            show_shape("logits of a step", logits);
        size_t kept = rapt_decoder_state_past(state);
        printf("step %zu: keys and values of each block [%d, %zu, %d]\n", i, BATCH, kept, FEATURES);
        same = same && matches(logits, whole, i);
    }
    show_check("every step gives what training computed at its position, to the bit", same);
}

static void in_prediction(rapt_tape *t, const rapt_transformer *m, const batch *p)
{
    rapt_error err = {0};
    size_t size = (size_t)BATCH * TIME * TARGET_WORDS * sizeof(rapt_real);
    rapt_real *whole = malloc(size);
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *memory = rapt_encoder_forward(t, &m->encoder, tokens_of(p->source), p->lens);
    rapt_tensor *logits = rapt_decoder_forward(t, &m->decoder, tokens_of(p->target), memory, p->lens);
    printf("\n-- in prediction: one word after the other --\n");
    if (whole && show_ready(t, m->params)) {
        memcpy(whole, logits->data, size); /* the next pass takes the tape's memory */
        rapt_decoder_state *state = rapt_decoder_state_new(&err);
        if (state)
            rapt_decoder_start(t, &m->decoder, state, memory, p->lens, (rapt_decoder_sizes){.capacity = TIME});
        if (show_check("the state is made", state && rapt_tape_error(t)->code == RAPT_OK)) {
            memset(memory->data, 0, rapt_tensor_size(memory) * sizeof *memory->data);
            printf("the encoder's output is overwritten: only what the state made of it is left\n");
            step_by_step(t, m, p, state, whole);
        }
        rapt_decoder_state_free(state);
    }
    free(whole);
}

/* What the words of the first translation look at in its source: head 0 of the first block. */
static void print_table(rapt_tape *t, const rapt_transformer *m, const batch *p)
{
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_transformer_forward(t, m, tokens_of(p->source), p->lens, tokens_of(p->target));
    if (show_ready(t, m->params))
        show_table(TIME, TIME, rapt_tape_attention(t, "decoder.0.cross_attention")->data, target_words, source_words);
}

int main(int argc, char **argv)
{
    bool table_only = show_wants_table(argc, argv);
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err); /* 1 is the seed */
    rapt_tape *t = rapt_tape_new(NULL, &err);
    rapt_transformer *m = new_model(&err);
    if (!set || !t || !m)
        return fprintf(stderr, "%s\n", err.message), 1;
    batch p;
    make_batch(&p);
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tape_begin(t, (rapt_pass){0});
    if (table_only) {
        print_table(t, m, &p);
    } else {
        on_paper(t, set);
        one_block(t, set);
        in_training(t, m, &p);
        in_prediction(t, m, &p);
    }
    rapt_transformer_free(m);
    return show_end(t, set);
}

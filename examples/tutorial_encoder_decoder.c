/* examples/tutorial_encoder_decoder.c: the code of docs/tutorials/encoder-decoder.md, section by section: the classes of the
 * Transformer of "Dive into Deep Learning" with all arguments of their constructors, and its examples.
 * Usage: tutorial_encoder_decoder [--table | SECTION] */
#include "sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rapt_tensor *ones(rapt_params *set, const char *name, size_t batch, size_t time, size_t d)
{
    return &rapt_params_add(set, name, 3, (size_t[]){batch, time, d}, (rapt_init){RAPT_INIT_ONES, 0})->value;
}

/* ---- sublayers --------------------------------------------------------------------------------------------------- */

static void position_wise_ffn(rapt_tape *t, rapt_params *set)
{
    rapt_error err = {0};
    rapt_ffn ffn;
    rapt_ffn_init(&ffn, set, "ffn.", 4, 4, 8, NULL); /* ffn_num_input, ffn_num_hiddens, ffn_num_outputs */
    rapt_tensor *x = ones(set, "ffn.X", 2, 3, 4), *y = rapt_ffn_forward(t, &ffn, x);
    if (!show_ready(t, set))
        return;
    show_shape("X", x);
    show_shape("ffn(X)", y);
    show_tensor("ffn(X)[0]", &(rapt_tensor){.data = y->data, .ndim = 2, .shape = {3, 8}});
    show_check("equal vectors at all places, equal results",
               show_difference(8, y->data, y->data + 8) == 0 && show_difference(8, y->data, y->data + 40) == 0);
    rapt_op_residual(t, x, y, (rapt_residual){0});
    rapt_tape_status(t, &err);
    rapt_tape_begin(t, (rapt_pass){0});
    printf("X + ffn(X): %s\n", err.message);
    show_check("8 features cannot be added to 4", err.code == RAPT_ERR_SHAPE);
}

static void add_norm(rapt_tape *t, rapt_params *set)
{
    rapt_add_norm m;
    rapt_add_norm_options options = {.dropout = 0.5};
    rapt_add_norm_init(&m, set, "add_norm.", 2, (size_t[]){3, 4}, &options);
    rapt_tensor *x = ones(set, "add_norm.X", 2, 3, 4), *y = rapt_add_norm_after(t, &m, x, ones(set, "add_norm.Y", 2, 3, 4));
    if (!show_ready(t, set))
        return;
    show_shape("add_norm(ones, ones)", y);
    rapt_real zeros[24] = {0};
    show_check("equal numbers: nothing is left after the mean is subtracted", show_difference(24, y->data, zeros) == 0);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* EncoderBlock(24, 24, 24, 24, [100, 24], 24, 48, 8, 0.5), and what DecoderBlock is given. */
static const rapt_block_config book_block = {
    .key = 24, .query = 24, .value = 24, .d_model = 24, .norm_ndim = 2, .norm_shape = {100, 24}, .ffn_input = 24, .ffn = 48,
    .heads = 8, .dropout = 0.5, .bias = false,
};

static void encoder_block(rapt_tape *t, rapt_params *set)
{
    rapt_encoder_block blk;
    rapt_encoder_block_init(&blk, set, "encoder_blk.", &book_block);
    rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
    rapt_tensor *x = ones(set, "encoder_blk.X", 2, 100, 24);
    rapt_tensor *y = rapt_encoder_block_forward(t, &blk, x, (int32_t[]){3, 2});
    if (!show_ready(t, set))
        return;
    const rapt_tensor *weights = rapt_tape_attention(t, "encoder_blk.attention");
    show_shape("X", x);
    show_shape("encoder_blk(X, valid_lens)", y);
    show_shape("attention_weights", weights);
    show_shape("addnorm1.ln.weight", &blk.norm1.norm.weight->value);
    show_check("the output has the shape of the input", rapt_tensor_same_shape(x, y));
    bool shares = true;
    for (size_t i = 0; i < rapt_tensor_size(weights); i++) {
        const size_t key = i % 100, valid = i < rapt_tensor_size(weights) / 2 ? 3 : 2;
        shares = shares && fabs((double)weights->data[i] - (key < valid ? 1.0 / (double)valid : 0)) < 1e-6;
    }
    show_check("equal keys: weights of 1/3 on the first 3, of 1/2 on the first 2, 0 on the others", shares);
}

static void decoder_block(rapt_tape *t, rapt_params *set)
{
    rapt_encoder_block encoder;
    rapt_decoder_block blk;
    rapt_encoder_block_init(&encoder, set, "state.encoder_blk.", &book_block);
    rapt_decoder_block_init(&blk, set, "decoder_blk.", &book_block);
    rapt_tensor *x = ones(set, "decoder_blk.X", 2, 100, 24);
    int32_t valid_lens[2] = {3, 2};
    rapt_decoder_memory state = {.output = rapt_encoder_block_forward(t, &encoder, x, valid_lens), .lens = valid_lens};
    rapt_tensor *y = rapt_decoder_block_forward(t, &blk, x, &state, NULL, 0);
    if (!show_ready(t, set))
        return;
    show_shape("X", x);
    show_shape("decoder_blk(X, state)[0]", y);
    show_check("the output has the shape of the input", rapt_tensor_same_shape(x, y));
}

/* Sizes that differ from the input's: the block names the parameter that does not fit. */
static void other_sizes(rapt_tape *t, rapt_params *set)
{
    rapt_error err = {0};
    rapt_encoder_block blk;
    rapt_block_config sizes = book_block;
    sizes.key = 20;
    rapt_encoder_block_init(&blk, set, "other_sizes.", &sizes);
    rapt_encoder_block_forward(t, &blk, ones(set, "other_sizes.X", 2, 100, 24), NULL);
    rapt_tape_status(t, &err);
    rapt_tape_begin(t, (rapt_pass){0});
    printf("key_size 20: %s\n", err.message);
    show_shape("W_k", &blk.attention.k.weight->value);
    show_check("X has 24 features", err.code == RAPT_ERR_SHAPE);
    show_ready(t, set);
}

/* ---- the whole model --------------------------------------------------------------------------------------------- */

enum { SOURCE_WORDS = 184, TARGET_WORDS = 201, HIDDENS = 32, BATCH = 64, STEPS = 10 };

static const rapt_transformer_config book_model = {
    .source_vocab = SOURCE_WORDS, .target_vocab = TARGET_WORDS, .layers = 2, .max_positions = 1000, .scale_embedding = true,
    .embedding_std = 1,
    .block = {.key = HIDDENS, .query = HIDDENS, .value = HIDDENS, .d_model = HIDDENS, .norm_ndim = 1, .norm_shape = {HIDDENS},
              .ffn_input = HIDDENS, .ffn = 64, .heads = 4, .dropout = 0.1},
};

/* Words drawn in a fixed way, and sources of 4 to 10 tokens. */
static void fill_batch(int32_t *source, int32_t *lens, int32_t *target)
{
    for (int i = 0; i < BATCH * STEPS; i++) {
        int b = i / STEPS, at = i % STEPS;
        lens[b] = 4 + b % 7;
        source[i] = at < lens[b] ? 4 + (b * 37 + at * 101) % (SOURCE_WORDS - 4) : RAPT_PAD;
        target[i] = at ? 4 + (b * 53 + at * 71) % (TARGET_WORDS - 4) : RAPT_BOS;
    }
}

/* 2 embeddings, 2 blocks of each kind (projections without biases, norms, feed-forward network), dense. */
static size_t parameters_by_hand(void)
{
    const size_t d = HIDDENS, attention_size = 4 * d * d, norm_size = 2 * d, ffn_size = d * 64 + 64 + 64 * d + d;
    return SOURCE_WORDS * d + 2 * (attention_size + 2 * norm_size + ffn_size) +
           TARGET_WORDS * d + 2 * (2 * attention_size + 3 * norm_size + ffn_size) + d * TARGET_WORDS + TARGET_WORDS;
}

static rapt_transformer *new_model(rapt_tape *t)
{
    rapt_error err = {0};
    rapt_transformer *net = rapt_transformer_new(&book_model, 1, &err);
    if (!net)
        rapt_tape_fail(t, err.code, "%s", err.message);
    return net;
}

static void encoder_decoder(rapt_tape *t, rapt_params *set)
{
    int32_t source[BATCH * STEPS], target[BATCH * STEPS], lens[BATCH];
    rapt_transformer *net = new_model(t);
    fill_batch(source, lens, target);
    if (net) {
        rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
        rapt_tape_begin(t, (rapt_pass){0});
        rapt_tokens enc_x = {source, BATCH, STEPS, NULL}, dec_x = {target, BATCH, STEPS, NULL};
        rapt_tensor *enc_outputs = rapt_encoder_forward(t, &net->encoder, enc_x, lens);
        rapt_tensor *logits = rapt_decoder_forward(t, &net->decoder, dec_x, enc_outputs, lens);
        if (show_ready(t, net->params)) {
            printf("enc_X: [%d, %d]\n", BATCH, STEPS);
            show_shape("encoder(enc_X, enc_valid_lens)", enc_outputs);
            show_shape("encoder.attention_weights[0]", rapt_tape_attention(t, "encoder.0.attention"));
            show_shape("encoder.attention_weights[1]", rapt_tape_attention(t, "encoder.1.attention"));
            show_shape("decoder(dec_X, state)[0]", logits);
            show_shape("decoder.attention_weights[0][0]", rapt_tape_attention(t, "decoder.0.self_attention"));
            show_shape("decoder.attention_weights[1][0]", rapt_tape_attention(t, "decoder.0.cross_attention"));
            printf("parameters: %zu\n", rapt_params_size(net->params));
            show_check("as many as counted by hand", rapt_params_size(net->params) == parameters_by_hand());
        }
    }
    show_ready(t, set);
    rapt_transformer_free(net);
}

/* Computes one word of each sentence. Returns whether its logits equal the logits of the pass over whole rows. */
static bool step(rapt_tape *t, const rapt_transformer *net, rapt_decoder_state *state, const int32_t *target, int at,
                 const rapt_real *whole)
{
    int32_t word[BATCH];
    for (int b = 0; b < BATCH; b++)
        word[b] = target[b * STEPS + at];
    rapt_tape_begin(t, (rapt_pass){0});
    rapt_tensor *logits = rapt_decoder_step(t, &net->decoder, state, (rapt_tokens){word, BATCH, 1, NULL});
    if (!show_ready(t, net->params))
        return false;
    printf("step %d: dec_X [%d, 1], state[2][i] [%d, %zu, %d]\n", at, BATCH, BATCH, rapt_decoder_state_past(state), HIDDENS);
    bool same = true;
    for (int b = 0; b < BATCH; b++)
        same = same && show_difference(TARGET_WORDS, logits->data + b * TARGET_WORDS,
                                       whole + (b * STEPS + at) * TARGET_WORDS) == 0;
    return same;
}

/* init_state, and then one word after the other. */
static void state(rapt_tape *t, rapt_params *set)
{
    int32_t source[BATCH * STEPS], target[BATCH * STEPS], lens[BATCH];
    static rapt_real whole[BATCH * STEPS * TARGET_WORDS];
    rapt_error err = {0};
    rapt_transformer *net = new_model(t);
    rapt_decoder_state *s = rapt_decoder_state_new(&err);
    fill_batch(source, lens, target);
    if (s && net) {
        rapt_tensor *enc_outputs = rapt_encoder_forward(t, &net->encoder, (rapt_tokens){source, BATCH, STEPS, NULL}, lens);
        rapt_tokens dec_x = {target, BATCH, STEPS, NULL};
        rapt_tensor *logits = rapt_decoder_forward(t, &net->decoder, dec_x, enc_outputs, lens);
        rapt_decoder_start(t, &net->decoder, s, enc_outputs, lens, (rapt_decoder_sizes){.capacity = STEPS});
        bool same = show_ready(t, net->params);
        if (same)
            memcpy(whole, logits->data, sizeof whole);
        for (int i = 0; i < STEPS && same; i++)
            same = step(t, net, s, target, i, whole);
        show_check("each step gives what the pass over whole rows gave at its position, to the bit", same);
    }
    rapt_decoder_state_free(s);
    show_ready(t, set);
    rapt_transformer_free(net);
}

/* What the tutorial's decoder adds to words: position 0 to each when it predicts; here the position of the word. */
static void positions_in_prediction(rapt_tape *t, rapt_params *set)
{
    rapt_transformer *net = new_model(t);
    if (net) {
        const rapt_preprocessor *input = &net->decoder.input;
        static int32_t words[4] = {RAPT_BOS, 5, 6, 7};
        rapt_tensor *whole = rapt_preprocess(t, input, (rapt_tokens){words, 1, 4, NULL}, 0);
        bool same = true, zero = true;
        for (size_t i = 0; i < 4; i++) {
            rapt_tensor *one = rapt_preprocess(t, input, (rapt_tokens){words + i, 1, 1, NULL}, i);
            rapt_tensor *first = rapt_preprocess(t, input, (rapt_tokens){words + i, 1, 1, NULL}, 0);
            if (!show_ready(t, net->params))
                break;
            double d = show_difference(HIDDENS, first->data, whole->data + i * HIDDENS);
            printf("word %zu alone: difference %.4f at position %zu, %.4f at position 0\n", i,
                   show_difference(HIDDENS, one->data, whole->data + i * HIDDENS), i, d);
            same = same && show_difference(HIDDENS, one->data, whole->data + i * HIDDENS) == 0;
            zero = zero && (i == 0) == (d == 0);
        }
        show_check("with their positions, words are what they were in the row; at position 0 only the first is", same && zero);
    }
    show_ready(t, set);
    rapt_transformer_free(net);
}

/* dec_valid_lens, as a picture: what each of ten words may attend to, with equal scores. */
static void picture(rapt_tape *t, rapt_params *set)
{
    rapt_tensor *zeros = rapt_tape_input(t, 3, (size_t[]){1, STEPS, STEPS}, (rapt_real[STEPS * STEPS]){0}, false);
    rapt_tensor *weights = rapt_op_masked_softmax(t, zeros, &(rapt_mask){.causal = true});
    if (show_ready(t, set))
        show_table(STEPS, STEPS, weights->data, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const section list[] = {
        {"position_wise_ffn", position_wise_ffn}, {"add_norm", add_norm},
        {"encoder_block", encoder_block}, {"decoder_block", decoder_block}, {"other_sizes", other_sizes},
        {"encoder_decoder", encoder_decoder}, {"state", state}, {"positions_in_prediction", positions_in_prediction}};
    return sections_run(argc, argv, list, sizeof list / sizeof *list, picture);
}

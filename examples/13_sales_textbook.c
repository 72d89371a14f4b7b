/* examples/13_sales_textbook.c: chapter 13 of docs/book: from a text to the next token, through a model of one
 * block, one tensor at a time. With a text and the rank file of cl100k_base it is the notebook's model.
 * Usage: 13_sales_textbook [--table] [TEXT RANKS] */
#include "show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 16, D_MODEL = 64, BATCH = 4, HEADS = 4, D_HEAD = D_MODEL / HEADS };

static const char own_text[] =
    "Part 1: Listening First\n"
    "A good seller listens before talking. The buyer knows what the day is like, what goes wrong and what it costs. "
    "The seller knows the product. Neither knows enough to close the deal, so the first talk is for questions.\n"
    "Ask what the buyer does today. Ask what happens when it goes wrong. Ask who else is in the room when the buyer "
    "decides. Then say back what you heard, in the buyer's own words, and ask if that is right. Most of the time it is "
    "not quite right, and the buyer will tell you what you missed.\n\n"
    "Part 2: The Offer\n"
    "An offer is an answer to what you heard. If the buyer said that the machine stops twice a week, the offer says "
    "how often the new machine stops. If the buyer said nothing about the colour, the offer says nothing about the "
    "colour. A list of everything that the product does is not an offer; it is a test of the buyer's patience.\n"
    "Say the price once, clearly, and then say nothing. The buyer needs the time to think, and the seller needs the "
    "time to listen again.\n\n"
    "Part 3: Doubts\n"
    "A doubt is a question that the buyer did not ask. When the buyer says that the price is too high, ask what it is "
    "high against: last year's price, the price of the other offer, or the price of doing nothing. Each of them has "
    "another answer.\nNever win against the buyer. A buyer who was listened to will talk to others.\n";

/* For a text that the caller names, every tensor as a whole, as PyTorch prints it; else what fits into a chapter. */
static bool everything;

/* ---- 1. the text and its tokens ----------------------------------------------------------------------------- */

typedef struct book {
    const char *text;
    char *read; /* the same, where it came from a file */
    size_t size;
    rapt_tokenizer *tokenizer;
    int32_t *ids;
    size_t count;
    rapt_token_file *tokens; /* the same ids, to cut parts and windows from */
    rapt_windows *windows;   /* of the training set */
} book;

static char *read_text(const char *path, size_t *size, rapt_error *err)
{
    FILE *f = fopen(path, "rb");
    long end = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    char *text = end >= 0 && end < INT32_MAX ? calloc((size_t)end + 1, 1) : NULL;
    if (!text || fseek(f, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)end, f) != (size_t)end) {
        rapt_fail(err, RAPT_ERR_IO, "%s: cannot be read", path);
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    *size = text ? (size_t)end : 0;
    return text;
}

/* Text and vocabulary from files, or from this program: then bytes and their most frequent pairs. */
static void open_text(book *b, const char *path, const char *ranks, rapt_error *err)
{
    char spec[4096];
    rapt_bpe_options options = rapt_bpe_options_default();
    options.vocab_size = 512;
    options.threads = 1;
    if (!path) {
        b->text = own_text;
        b->size = sizeof own_text - 1;
        b->tokenizer = rapt_tokenizer_train_bpe(own_text, b->size, &options, err);
        return;
    }
    snprintf(spec, sizeof spec, "cl100k_base:%s", ranks);
    b->text = b->read = read_text(path, &b->size, err);
    b->tokenizer = b->text ? rapt_tokenizer_load(spec, err) : NULL;
}

static bool open_book(book *b, const char *path, const char *ranks, rapt_error *err)
{
    open_text(b, path, ranks, err);
    if (!b->text || !b->tokenizer ||
        rapt_tokenizer_encode_bytes(b->tokenizer, b->text, b->size, NULL, &b->ids, &b->count, err) != RAPT_OK)
        return false;
    b->tokens = rapt_token_file_from_ids(b->ids, b->count, rapt_tokenizer_size(b->tokenizer), err);
    if (!b->tokens)
        return false;
    rapt_token_range training = rapt_token_range_training(b->tokens, 0.9);
    b->windows = rapt_windows_new(b->tokens, &training, CONTEXT, BATCH, 2, err);
    return b->windows != NULL;
}

static void close_book(book *b)
{
    rapt_windows_free(b->windows);
    rapt_token_file_close(b->tokens);
    rapt_tokenizer_free(b->tokenizer);
    free(b->ids);
    free(b->read);
}

/* A token as one word of a table: "·" for a space, "\n" for the end of a line, "\xe2" for other bytes. */
static void name_token(const rapt_tokenizer *k, int32_t id, char name[64])
{
    size_t size = 0, at = 0;
    const char *bytes = rapt_tokenizer_token(k, id, &size);
    name[0] = '\0';
    for (size_t i = 0; bytes && i < size && at < 56; i++) {
        unsigned char c = (unsigned char)bytes[i];
        const char *form = c == ' ' ? "·" : c == '\n' ? "\\n" : c < 32 || c > 126 ? "\\x%02x" : "%c";
        at += (size_t)snprintf(name + at, 64 - at, form, c);
    }
}

static void show_text(const book *b)
{
    size_t cut = b->count * 9 / 10;
    char name[64];
    int length = everything ? 1000 : 240;
    printf("-- the text, its first %d characters --\n%.*s\n", length, length, b->text);
    printf("\n-- its tokens --\n");
    name_token(b->tokenizer, b->ids[0], name);
    printf("the first one: %s, %d\n", name, b->ids[0]);
    printf("the first 30 characters: \"%.30s\"\n", b->text);
    size_t first = b->count < 30 ? b->count : 30;
    printf("the first %zu tokens:\n", first);
    for (size_t i = 0; i < first; i++)
        printf("%7d%s", b->ids[i], i % 10 == 9 || i + 1 == first ? "\n" : "");
    printf("tokens: %zu, the largest is %d\n", b->count, rapt_token_file_max_id(b->tokens));
    printf("training set: %zu, validation set: %zu\n", cut, b->count - cut);
    show_ids("validation set", (rapt_tokens){b->ids + cut, 1, b->count - cut < CONTEXT ? b->count - cut : CONTEXT, NULL});
    size_t size = 0;
    char *again = rapt_tokenizer_decode(b->tokenizer, b->ids, b->count, &size);
    bool same = again && size == b->size && memcmp(again, b->text, size) == 0;
    show_check("the tokens make the text again, to the byte", same);
    free(again);
}

static void show_batch(const book *b, const rapt_window_batch *batch)
{
    char name[64], label[64];
    printf("\n-- a batch --\nstarts:");
    for (int i = 0; i < BATCH; i++)
        printf(" %zu", batch->starts[i]);
    putchar('\n');
    if (everything) {
        show_ids("x_batch", batch->inputs);
        show_ids("y_batch", batch->labels);
    } else {
        printf("x_batch: [%zu, %zu]\ny_batch: [%zu, %zu]\n", batch->inputs.batch, batch->inputs.time, batch->labels.batch,
               batch->labels.time);
    }
    printf("the first window, and its labels:\n");
    for (int i = 0; i < CONTEXT; i++) {
        name_token(b->tokenizer, batch->inputs.ids[i], name);
        name_token(b->tokenizer, batch->labels.ids[i], label);
        printf("%4d %7d  %-10s %7d  %s\n", i, batch->inputs.ids[i], name, batch->labels.ids[i], label);
    }
    bool later = true;
    for (int i = 0; i < BATCH * CONTEXT; i++)
        later = later && (i % CONTEXT == CONTEXT - 1 || batch->labels.ids[i] == batch->inputs.ids[i + 1]);
    show_check("a label is the token after it", later);
}

/* ---- 2. the model, one tensor at a time ---------------------------------------------------------------------- */

typedef struct steps {
    rapt_tensor *embedded, *x;                        /* [4, 16, 64] */
    rapt_tensor *q, *k, *v;                           /* [4, 16, 64] */
    rapt_tensor *q_heads, *k_heads, *v_heads;         /* [4, 4, 16, 16] */
    rapt_tensor *scaled, *masked, *weights, *heads;   /* [4, 4, 16, 16] */
    rapt_tensor *concat, *projected, *sum1, *norm1;   /* [4, 16, 64] */
    rapt_tensor *hidden, *active;                     /* [4, 16, 256] */
    rapt_tensor *ffn, *sum2, *norm2;                  /* [4, 16, 64] */
    rapt_tensor *logits, *probabilities;              /* [4, 16, vocabulary] */
} steps;

/* A copy with -inf where a key stands after its query. */
static rapt_tensor *hide_later_keys(rapt_tape *t, const rapt_tensor *scores)
{
    rapt_tensor *y = rapt_tape_input(t, scores->ndim, scores->shape, scores->data, false);
    for (size_t i = 0; !rapt_tape_error(t)->code && i < rapt_tensor_size(y); i++)
        if (i % CONTEXT > i / CONTEXT % CONTEXT)
            y->data[i] = (rapt_real)-INFINITY;
    return y;
}

static void attend(rapt_tape *t, const rapt_multi_head_attention *m, steps *s)
{
    s->q = rapt_linear_forward(t, &m->q, s->x);
    s->k = rapt_linear_forward(t, &m->k, s->x);
    s->v = rapt_linear_forward(t, &m->v, s->x);
    s->q_heads = rapt_op_split_heads(t, s->q, HEADS);
    s->k_heads = rapt_op_split_heads(t, s->k, HEADS);
    s->v_heads = rapt_op_split_heads(t, s->v, HEADS);
    s->scaled = rapt_op_scale(t, rapt_op_matmul(t, s->q_heads, s->k_heads, true), 1 / sqrt(D_HEAD));
    s->masked = hide_later_keys(t, s->scaled);
    s->weights = rapt_op_masked_softmax(t, s->masked, NULL);
    s->heads = rapt_op_matmul(t, s->weights, s->v_heads, false);
    s->concat = rapt_op_concat_heads(t, s->heads);
    s->projected = rapt_linear_forward(t, &m->o, s->concat);
}

static steps compute(rapt_tape *t, const rapt_lm *m, rapt_tokens tokens)
{
    steps s;
    const rapt_lm_block *block = &m->blocks[0];
    s.embedded = rapt_embedding_forward(t, &m->input.embedding, tokens);
    s.x = rapt_positions_forward(t, &m->input.positions, s.embedded, 0);
    attend(t, &block->attention, &s);
    s.sum1 = rapt_op_add(t, s.projected, s.x);
    s.norm1 = rapt_layer_norm_forward(t, &block->norm1.norm, s.sum1);
    s.hidden = rapt_linear_forward(t, &block->ffn.dense1, s.norm1);
    s.active = rapt_op_relu(t, s.hidden);
    s.ffn = rapt_linear_forward(t, &block->ffn.dense2, s.active);
    s.sum2 = rapt_op_add(t, s.ffn, s.norm1);
    s.norm2 = rapt_layer_norm_forward(t, &block->norm2.norm, s.sum2); /* the same norm once more */
    s.logits = rapt_linear_forward(t, &m->output, s.norm2);
    s.probabilities = rapt_op_masked_softmax(t, s.logits, NULL);
    return s;
}

/* ---- 3. what it computed --------------------------------------------------------------------------------------- */

static void show(const char *name, const rapt_tensor *x)
{
    show_shape(name, x);
    if (everything)
        show_tensor(name, x);
}

/* As show, but with a corner of the first window where not everything is shown. */
static void show_first(const char *name, const rapt_tensor *x)
{
    show(name, x);
    if (!everything)
        show_corner(name, x);
}

/* Place times frequency [16, 32], each step of it printed. */
static rapt_tensor *show_angles(rapt_tape *t)
{
    enum { HALF = D_MODEL / 2 };
    rapt_real place[CONTEXT], index[HALF], scaled[HALF], frequency[HALF];
    double factor = -log(10000.0) / D_MODEL;
    for (int i = 0; i < CONTEXT; i++)
        place[i] = (rapt_real)i;
    for (int j = 0; j < HALF; j++) {
        index[j] = (rapt_real)(2 * j);
        scaled[j] = (rapt_real)(2 * j * factor);
        frequency[j] = (rapt_real)exp(2 * j * factor);
    }
    rapt_tensor *position = rapt_tape_input(t, 2, (size_t[]){CONTEXT, 1}, place, false);
    rapt_tensor *angles = rapt_op_matmul(t, position, rapt_tape_input(t, 2, (size_t[]){1, HALF}, frequency, false), false);
    if (rapt_tape_error(t)->code)
        return angles;
    show_row("position_arange", CONTEXT, place, "%2.0f");
    show_shape("position", position);
    show_tensor("position", position);
    show_row("indices", HALF, index, "%2.0f");
    printf("scale_factor: %.6f\n", factor);
    show_row("scale_indices", HALF, scaled, "%.4f");
    show_row("div_term", HALF, frequency, "%.4e");
    show("position * div_term", angles);
    return angles;
}

/* Sines of the angles at even places, cosines at odd ones. */
static double table_difference(const rapt_tensor *table, const rapt_tensor *angles)
{
    double worst = 0;
    for (size_t i = 0; i < rapt_tensor_size(angles); i++) {
        worst = fmax(worst, fabs((double)table->data[2 * i] - sin((double)angles->data[i])));
        worst = fmax(worst, fabs((double)table->data[2 * i + 1] - cos((double)angles->data[i])));
    }
    return worst;
}

/* The table [16, 64], as one of a batch [1, 16, 64], and once for each window [4, 16, 64]. */
static void show_positions(rapt_tape *t, const rapt_tensor *table, const steps *s)
{
    printf("\n-- positions --\n");
    rapt_tensor *of_batch = rapt_tape_input(t, 3, (size_t[]){1, CONTEXT, D_MODEL}, table->data, false);
    rapt_tensor *expanded = rapt_tape_tensor(t, 3, (size_t[]){BATCH, CONTEXT, D_MODEL}, false);
    rapt_tensor *angles = everything ? show_angles(t) : NULL;
    if (rapt_tape_error(t)->code)
        return;
    for (size_t b = 0; b < BATCH; b++)
        memcpy(expanded->data + b * rapt_tensor_size(table), table->data, rapt_tensor_size(table) * sizeof *table->data);
    rapt_tensor *sum = rapt_op_add(t, s->embedded, expanded);
    if (rapt_tape_error(t)->code)
        return;
    show("positions", table);
    if (everything) {
        show_check("sines at even places, cosines at odd ones", table_difference(table, angles) < 1e-5);
        show_shape("as one of a batch", of_batch);
    }
    show_shape("once for each window", expanded);
    show_check("the embedding plus these is x", show_difference(rapt_tensor_size(sum), sum->data, s->x->data) == 0);
}

static void show_input(rapt_tape *t, const rapt_lm *m, rapt_tokens labels, const steps *s)
{
    rapt_tensor *y = rapt_preprocess(t, &m->input, labels, 0);
    if (rapt_tape_error(t)->code)
        return;
    printf("\n-- embedding --\n");
    show("embedding", &m->input.embedding.weight->value);
    show_shape("x_batch_embedding", s->embedded);
    show_positions(t, &m->input.positions.table->value, s);
    printf("\n-- both --\n");
    show_first("x", s->x);
    if (!everything)
        return;
    show("y", y);
    printf("x[0], the first 10 and the last 10 features:\n");
    show_frame(CONTEXT, D_MODEL, s->x->data, NULL, NULL);
}

static bool rows_sum_to_one(const rapt_tensor *x)
{
    size_t n = rapt_tensor_features(x);
    bool good = true;
    for (size_t row = 0; row < rapt_tensor_rows(x); row++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += (double)x->data[row * n + j];
        good = good && fabs(sum - 1) < 1e-4;
    }
    return good;
}

/* What the first head makes of the first tokens: the rest of the triangle looks alike. */
static void show_few(const char *name, const rapt_tensor *x)
{
    enum { FEW = 5 };
    rapt_real corner[FEW * FEW];
    for (size_t i = 0; i < FEW * FEW; i++)
        corner[i] = x->data[i / FEW * CONTEXT + i % FEW];
    show_shape(name, x);
    printf("%s[0, 0], the first %d rows and columns:\n", name, FEW);
    show_frame(FEW, FEW, corner, NULL, NULL);
}

static void show_attention(rapt_tape *t, const steps *s)
{
    rapt_tensor *by_mask = rapt_op_masked_softmax(t, s->scaled, &(rapt_mask){.causal = true});
    if (rapt_tape_error(t)->code)
        return;
    printf("\n-- attention --\n");
    show("Q", s->q);
    show("K", s->k);
    show("V", s->v);
    show_shape("Q by heads", s->q_heads);
    show_range("Q", s->q_heads);
    show_range("K", s->k_heads);
    show_range("V", s->v_heads);
    show("scaled", s->scaled);
    if (everything) {
        printf("masked[0, 0]:\n");
        show_frame(CONTEXT, CONTEXT, s->masked->data, NULL, NULL);
        printf("weights[0, 0]:\n");
        show_frame(CONTEXT, CONTEXT, s->weights->data, NULL, NULL);
    } else {
        show_few("masked", s->masked);
        show_few("weights", s->weights);
    }
    show("heads", s->heads);
    show_shape("heads side by side", s->concat);
    show_shape("projected", s->projected);
    show_check("rows of weights sum to 1", rows_sum_to_one(s->weights));
    show_check("-inf before the softmax is what .causal = true does",
               show_difference(rapt_tensor_size(by_mask), by_mask->data, s->weights->data) < 1e-6);
}

static size_t most_probable(const rapt_real *p, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        best = p[i] > p[best] ? i : best;
    return best;
}

static void show_prediction(rapt_tape *t, const rapt_lm *m, const book *b, const rapt_window_batch *batch,
                            const steps *s)
{
    char name[64], first[64];
    rapt_tensor *whole = rapt_lm_forward(t, m, batch->inputs);
    rapt_loss_sums loss;
    rapt_op_cross_entropy(t, s->logits, batch->labels, NULL, &loss);
    if (rapt_tape_error(t)->code)
        return;
    size_t words = rapt_tensor_features(s->logits), best = most_probable(s->probabilities->data, words);
    double nats = loss.nll / (double)loss.tokens, guess = log((double)words);
    name_token(b->tokenizer, batch->inputs.ids[0], first);
    name_token(b->tokenizer, (int32_t)best, name);
    printf("\n-- the rest of the block, and the output --\n");
    show_shape("x + projected", s->sum1);
    show("norm", s->norm1);
    show("hidden", s->hidden);
    show_shape("after the ReLU", s->active);
    show_shape("FFN(norm)", s->ffn);
    show("norm + FFN(norm)", s->sum2);
    show("the same norm again", s->norm2);
    show_first("logits", s->logits);
    printf("the token after \"%s\", most probable: %zu, \"%s\", with probability %.6f\n", first, best, name,
           (double)s->probabilities->data[best]);
    printf("loss of the labels: %.4f, of a guess among %zu: ln %zu = %.4f\n", nats, words, words, guess);
    printf("perplexity: %.1f\n", exp(nats));
    show_check("probabilities sum to 1", rows_sum_to_one(s->probabilities));
    show_check("a model that has learned nothing is about as good as a guess", fabs(nats - guess) < 0.5);
    show_check("rapt_lm_forward gives the same logits",
               show_difference(rapt_tensor_size(whole), whole->data, s->logits->data) < 1e-4);
    show_check("and so the same token", most_probable(whole->data, words) == best);
}

/* The picture: what the first head makes of the first window. */
static void print_table(const book *b, const rapt_window_batch *batch, const steps *s)
{
    static char text[CONTEXT][64];
    const char *names[CONTEXT];
    for (int i = 0; i < CONTEXT; i++) {
        name_token(b->tokenizer, batch->inputs.ids[i], text[i]);
        names[i] = text[i];
    }
    show_table(CONTEXT, CONTEXT, s->weights->data, names, names);
}

static void run(rapt_tape *t, rapt_params *set, const book *b, bool table_only)
{
    rapt_lm m;
    rapt_lm_config config;
    rapt_lm_preset("seed", &config, NULL); /* the notebook's sizes */
    config.vocab = (size_t)rapt_token_file_max_id(b->tokens) + 1;
    rapt_lm_init(&m, set, &config);
    const rapt_window_batch *batch = rapt_windows_random(b->windows, 0);
    if (!show_ready(t, set))
        return;
    steps s = compute(t, &m, batch->inputs);
    if (!show_ready(t, set))
        return;
    if (table_only) {
        print_table(b, batch, &s);
        return;
    }
    show_text(b);
    show_batch(b, batch);
    show_input(t, &m, batch->labels, &s);
    show_attention(t, &s);
    show_prediction(t, &m, b, batch, &s);
    show_ready(t, set);
}

int main(int argc, char **argv)
{
    bool table_only = argc > 1 && strcmp(argv[1], "--table") == 0;
    bool files = argc - table_only == 3;
    if (!files && argc - table_only != 1)
        return fprintf(stderr, "usage: %s [--table] [TEXT RANKS]\n", argv[0]), 2;
    rapt_error err = {0};
    rapt_params *set = rapt_params_new(1, &err); /* 1 is the seed */
    rapt_tape *t = rapt_tape_new(NULL, &err);
    book b = {0};
    if (!set || !t || !open_book(&b, files ? argv[argc - 2] : NULL, argv[argc - 1], &err)) {
        close_book(&b);
        rapt_tape_free(t);
        rapt_params_free(set);
        return fprintf(stderr, "%s\n", err.message), 1;
    }
    everything = files;
    if (!files && !table_only)
        printf("A small text of this program's own. For another: 13_sales_textbook TEXT RANKS\n\n");
    rapt_tape_begin(t, (rapt_pass){0});
    run(t, set, &b, table_only);
    close_book(&b);
    return show_end(t, set);
}

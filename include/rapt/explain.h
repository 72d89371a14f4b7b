/* rapt/explain.h: inspect one forward pass over one text: tokens, every named intermediate activation with its values, attention
 * weights, next-token probabilities, and on request the loss and all gradients; as an object, as JSON, as text, and as a page
 * for a browser. Nothing is printed and no file is written.
 *
 *    rapt_model *model = rapt_model_load("models/quickstart", &err);
 *    rapt_explanation *e = model ? rapt_explanation_new(model, "Where are my keys?", NULL, &err) : NULL;
 *    const rapt_intermediate *a = e ? rapt_explanation_find(e, "decoder.1.cross_attention.weights", false) : NULL;
 *    if (a) // [1, heads, target tokens, source tokens]
 *        printf("%s = %s: head 0, row 0, column 0: %g\n", a->name, a->formula, a->values[0]);
 *    rapt_explanation_free(e);
 *
 * To watch passes of one's own, in training or decoding, there is rapt/observe.h.
 */
#ifndef RAPT_EXPLAIN_H
#define RAPT_EXPLAIN_H

#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pass that is over, with copies of all that it computed. It borrows the model, which must outlive it, and reads no more than
 * its tokenizers and configuration; any number of threads may read one explanation. */
typedef struct rapt_explanation rapt_explanation;

/* What a pass will take. */
typedef struct rapt_explain_cost {
    size_t elements; /* of all intermediates and gradients, kept or not */
    size_t kept;     /* of those that the explanation keeps */
    size_t steps;    /* intermediates and gradients that it keeps */
    size_t bytes;    /* memory at once, of the pass and what is kept, but not of its threads' work space; what is kept takes 4
                        bytes an element */
} rapt_explain_cost;

/* Zeroed: the defaults. All pointers are borrowed during rapt_explanation_new only. */
typedef struct rapt_explain_options {
    const char *target;       /* translation: what the decoder reads; NULL: the model's own greedy translation */
    bool gradients;           /* also the loss of the target (of the text of a language model) and its gradients; no dropout */
    const char *const *names; /* [name_count]: shell patterns ("*.weights") of the intermediates to keep, and of the parts
                                 "tokens", "predictions" and "loss" of the text that rapt_explanation_text makes; see there */
    size_t name_count;        /* 0: everything */
    const char *model_name;   /* in text and JSON, usually the folder's path; NULL: "model" */
    int threads;              /* as in rapt_tape_options; the result does not depend on it */
    const rapt_explanation *like; /* explain its tokens in place of `text` and `target`, which are ignored; NULL: none */
    bool strict;              /* unknown words are an error, else <unk>, which is what the model reads in their place */
    /* Called once, before anything but the model's own translation is computed: a code other than RAPT_OK, with `err` set,
       stops the pass, and is returned. NULL: any pass is computed. */
    rapt_code (*admit)(void *context, const rapt_explain_cost *cost, rapt_error *err);
    void *context;            /* of `admit` */
} rapt_explain_options;

/* Runs one pass in fp32, over all positions at once: a translation model reads `text` (UTF-8) as its source and
 * options->target behind <bos>; a language model reads `text`, in which texts of special tokens are special tokens.
 * `options` may be NULL: the defaults.
 *
 * With options->like the same tokens go through another model of the same sizes, such as an earlier checkpoint of a training run
 * (rapt_model_load_checkpoint). What is returned then borrows the model of `like`, and `model` may be freed.
 *
 * The model is only read. With options->gradients the gradients of its parameters are also used: they are zeroed before, and
 * zero afterwards, so no other thread may compute gradients of this model meanwhile; inference is allowed.
 *
 * The caller frees the result with rapt_explanation_free. NULL with `err` (which may be NULL) set:
 *   RAPT_ERR_VALUE      a text or target that is empty, longer than the model takes, or of unknown words, where that is strict;
 *                       a target for a language model; gradients of a text of one token;
 *                       `like` is of a model of another task or other sizes;
 *   RAPT_ERR_FORMAT     a text that is not UTF-8, where the tokenizer needs it;
 *   RAPT_ERR_NOT_FOUND  a pattern that matches no intermediate and no part ("loss": none without gradients); the message has
 *                       a near name;
 *   RAPT_ERR_NOT_FINITE the loss is not finite (with gradients only);
 *   RAPT_ERR_MEMORY     out of memory;
 *   and what options->admit returns.
 * Sets the floating-point environment of the calling thread, as rapt_tape_begin does. */
RAPT_API rapt_explanation *rapt_explanation_new(const rapt_model *model, const char *text, const rapt_explain_options *options,
                                                rapt_error *err);
/* Frees the explanation and all that it handed out but JSON, text and pages. NULL is fine. */
RAPT_API void rapt_explanation_free(rapt_explanation *e);

/* ---- what it holds ---------------------------------------------------------------------------------------- */

/* The tokens of one sequence: "source" and "target" (the decoder's input, from <bos> on) of a translation model, "text" of a
 * language model. */
typedef struct rapt_explained_sequence {
    const char *name;
    size_t count;
    const int32_t *ids;        /* [count] */
    const char *const *labels; /* [count]: position and token, "3 chat"; a space as an open box, bytes that
                                  are no UTF-8 as escapes */
    const char *const *unknown_words; /* [unknown_word_count]: words of the text, or characters, that are <unk> among the tokens,
                                         each once, in their order */
    size_t unknown_word_count;
} rapt_explained_sequence;

/* An intermediate, or the gradient of an intermediate or parameter; names, formulas and axes are those of rapt/observe.h. */
typedef struct rapt_intermediate {
    const char *name;        /* "encoder.0.attention.weights" */
    const char *formula;     /* "softmax(masked)"; NULL for gradients of parameters */
    const char *axes;        /* one word a dimension, "batch head query key"; NULL: unnamed */
    bool gradient;           /* values are d loss / d name */
    int ndim;
    size_t shape[RAPT_MAX_DIMS];
    const rapt_real *values; /* row-major, as many as the product of `shape` */
} rapt_intermediate;

/* What the model predicts after one token of the last sequence. */
typedef struct rapt_explained_prediction {
    size_t count;                /* tokens listed: 5, or the whole of a smaller vocabulary */
    const int32_t *ids;          /* [count], the most probable first */
    const double *probabilities; /* [count], softmax of the logits, 0 to 1 */
    bool has_label;              /* a token follows this one: in the target (or <eos>), or in the text */
    int32_t label;               /* it, where has_label */
    double loss;                 /* -ln p(label) in nats, where has_label; else 0 */
} rapt_explained_prediction;

/* How many sequences: 2 of a translation model, 1 of a language model. */
RAPT_API size_t rapt_explanation_sequence_count(const rapt_explanation *e);
/* Sequence `index`, in the order source, target; what it points to belongs to the explanation. An index out of range gives an
 * empty one, whose name is NULL. */
RAPT_API rapt_explained_sequence rapt_explanation_sequence(const rapt_explanation *e, size_t index);

/* How many intermediates and gradients are kept. */
RAPT_API size_t rapt_explanation_count(const rapt_explanation *e);
/* Number `index` in the order of computation: intermediates, then gradients, from the loss back, then those of parameters. It
 * belongs to the explanation. NULL: index out of range. */
RAPT_API const rapt_intermediate *rapt_explanation_at(const rapt_explanation *e, size_t index);
/* The intermediate of this name, or, with `gradient`, the gradient of the intermediate or parameter of this name. It belongs
 * to the explanation. NULL: there is none, or it was not asked for. */
RAPT_API const rapt_intermediate *rapt_explanation_find(const rapt_explanation *e, const char *name, bool gradient);

/* The prediction after token `position`, counted from 0, of the last sequence. What it points to belongs to the explanation.
 * A position out of range gives an empty one, whose count is 0. */
RAPT_API rapt_explained_prediction rapt_explanation_prediction(const rapt_explanation *e, size_t position);
/* The mean loss over all labels in nats a token, where gradients were asked for; else 0. */
RAPT_API double rapt_explanation_loss(const rapt_explanation *e);
/* What a translation model wrote or was given, as `rapt translate` writes it (detokenized and capitalized where the model says
 * so); a target as it was given. It belongs to the explanation. NULL for language models. */
RAPT_API const char *rapt_explanation_target(const rapt_explanation *e);

/* ---- as text, JSON and HTML ------------------------------------------------------------------------------- */

/* How an explanation is written. Zeroed: the defaults. */
typedef struct rapt_explain_format {
    bool full;     /* all elements: in JSON, which otherwise has statistics only, and in text, which otherwise has
                      the corners of large matrices */
    bool table;    /* text: matrices as tables with row and column labels, else as PyTorch prints tensors */
    bool color;    /* text: ANSI escape sequences for a terminal */
    size_t width;  /* text: columns that a line of a table may take; 0: 80; with `full` lines are as long as they need */
    bool has_position;  /* text: next-token probabilities after token `position`; else after the last token */
    long position;      /* counted from 0, or below 0 from the end */
    bool all_positions; /* text: after each token */
} rapt_explain_format;

/* All of the following give the caller a NUL-terminated text to free(), with its length without the NUL in *size (`size` may be
 * NULL), or return a code with `err` (which may be NULL) set, and leave *text alone. `format` may be NULL: the defaults. */

/* A text of lines for people: model, tokens, intermediates under headings, next-token probabilities, loss, gradients. Where
 * patterns were given, only what they match, of the parts "tokens", "predictions" and "loss" too. RAPT_ERR_VALUE: a position
 * out of range; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_explanation_text(const rapt_explanation *e, const rapt_explain_format *format, char **text, size_t *size,
                                         rapt_error *err);
/* One JSON object on one line, without a newline: what `rapt explain --json` prints. Of `format` it heeds `full`. Floats have
 * nine digits, from which the same float comes back; those that are not finite are "nan", "inf" and "-inf".
 * RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_explanation_json(const rapt_explanation *e, const rapt_explain_format *format, char **json, size_t *size,
                                         rapt_error *err);
/* One HTML page of 3 MB at most that needs no other file and no network: what `rapt explain --html` writes. Where the elements
 * are too many to stand there exactly, some intermediates are rounded to 16 or 8 bits, or left out; of logits, probabilities,
 * embedding and output matrix with more than 100,000 elements, and of their gradients, it has the columns or rows of the tokens
 * that it names: those read, the most probable ones, those that follow. The page says in place what it leaves out, and
 * minimum, mean, maximum and standard deviation are always those of all elements. RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_explanation_page(const rapt_explanation *e, char **html, size_t *size, rapt_error *err);

/* What a checkpoint of a training run makes of the same tokens. */
typedef struct rapt_explained_checkpoint {
    uint64_t step;                      /* of training; 0: the untrained model */
    const rapt_explanation *explanation; /* made with rapt_explain_options.like; the pattern "*.weights" suffices */
} rapt_explained_checkpoint;

/* How a page is written. Zeroed: the defaults. Borrowed during the call. */
typedef struct rapt_explain_page_options {
    bool full; /* all elements, exactly: some four letters for three bytes of fp32, whatever the size of the page */
    const rapt_explained_checkpoint *checkpoints; /* [checkpoint_count], in the order of training: the page gets a slider that
                                                     shows the attention weights and predictions of each */
    size_t checkpoint_count;
} rapt_explain_page_options;

/* The same page with options, which may be NULL: the defaults. Checkpoints add 4 MB at most, unless with `full`: their attention
 * weights are rounded where they are many. RAPT_ERR_VALUE where they take more even then, and where a checkpoint's explanation
 * has other tokens than `e` or no attention weights. */
RAPT_API rapt_code rapt_explanation_page_with(const rapt_explanation *e, const rapt_explain_page_options *options, char **html,
                                              size_t *size, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif

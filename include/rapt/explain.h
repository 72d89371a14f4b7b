/* rapt/explain.h: inspect one forward pass over one text: tokens, every named intermediate activation with its values, attention
 * weights, next-token probabilities, and on request the loss and all gradients, and the logit lens: predictions after each block.
 * An explanation is an object, and can be written as JSON, as text, and as a page for a browser. Nothing is printed, no file is
 * written.
 *
 *    const char *text = "Where are my keys?";
 *    rapt_model *model = rapt_model_load("models/quickstart", NULL, &err);
 *    rapt_explanation *e = model ? rapt_explanation_new(model, text, strlen(text), NULL, &err) : NULL;
 *    const rapt_intermediate *a = e ? rapt_explanation_find(e, "decoder.1.cross_attention.weights", false) : NULL;
 *    if (a) // [1, heads, target tokens, source tokens]
 *        printf("%s = %s: head 0, row 0, column 0: %g\n", a->name, a->formula, a->values[0]);
 *    rapt_explanation_free(e);
 *
 * rapt/observe.h watches a program's own passes, in training or decoding.
 */
#ifndef RAPT_EXPLAIN_H
#define RAPT_EXPLAIN_H

#include "rapt/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A finished pass, with copies of all that it computed. It borrows the model, which must outlive it, and reads only the model's
 * tokenizers and configuration; rapt_explanation_page also reads parameters, which should be as they were in the pass. Any number
 * of threads may read one explanation. */
typedef struct rapt_explanation rapt_explanation;

/* What a pass is going to take. */
typedef struct rapt_explain_cost {
    size_t elements; /* of all intermediates and gradients, kept or not, and of what the logit lens computes */
    size_t kept;     /* elements that the explanation keeps, 4 bytes each */
    size_t steps;    /* intermediates and gradients that it keeps */
    size_t lens;     /* predictions of the logit lens: depths times positions; 0 without it */
    size_t bytes;    /* peak memory of the pass and of the kept copies, without the scratch memory of the threads */
} rapt_explain_cost;

/* All pointers are borrowed during rapt_explanation_new only. */
typedef struct rapt_explain_options {
    size_t size;              /* of this struct; set by rapt_explain_options_default */
    rapt_text target;         /* translation: the text that the decoder reads; `data` NULL: the model's own greedy translation */
    bool gradients;           /* also compute the loss of the target (of a language model's text) and its gradients, without
                                 dropout */
    bool lens;                /* also the logit lens: rapt_explanation_lens */
    const char *const *names; /* [name_count]: shell patterns ("*.weights") that select the intermediates to keep, and the parts
                                 "tokens", "predictions", "lens" and "loss" in the text of rapt_explanation_text */
    size_t name_count;        /* 0: everything */
    const char *model_name;   /* the model's name in text and JSON, usually the folder's path; NULL: "model" */
    int threads;              /* as in rapt_compute; the result does not depend on it */
    const rapt_explanation *like; /* use the tokens of this explanation and ignore `text` and `target`; or NULL */
    bool strict;              /* unknown words are an error; if false, the model reads <unk> for them */
    /* Called once, before anything but the model's own translation is computed. If it returns a code other than RAPT_OK, with
       `err` set, the pass ends and returns that code. NULL: any pass is computed. */
    rapt_code (*admit)(void *context, const rapt_explain_cost *cost, rapt_error *err);
    void *context;            /* of `admit` */
} rapt_explain_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_explain_options_init(rapt_explain_options *o, size_t size);
/* Everything is kept, without gradients; the model translates; unknown words are read as <unk>. */
static inline rapt_explain_options rapt_explain_options_default(void)
{
    rapt_explain_options o;
    rapt_explain_options_init(&o, sizeof o);
    return o;
}

/* Runs one pass in fp32, over all positions at once. A translation model reads the `size` bytes of `text` (UTF-8) as its source,
 * and options->target after <bos>; a language model reads `text`, in which texts of special tokens become those tokens. `options`
 * may be NULL: the defaults.
 *
 * With options->like the same tokens go through another model of the same sizes, such as an earlier checkpoint of a training run
 * (rapt_model_load_checkpoint). The result then borrows the model of `like`, so `model` may be freed.
 *
 * The model is only read, except that options->gradients uses the gradients of its parameters: they are zeroed before and after.
 * No other thread may compute gradients of this model meanwhile; inference is allowed.
 *
 * The caller frees the result with rapt_explanation_free. NULL with `err` (which may be NULL) set:
 *   RAPT_ERR_VALUE      options without a size; a text or target that is empty, longer than the model takes, or of unknown
 *                       words, where that is strict; a target for a language model; gradients of a text of one token;
 *                       `like` is of a model of another task or other sizes; gradients of a model with heads switched off;
 *   RAPT_ERR_FORMAT     a text that is not UTF-8, where the tokenizer needs it;
 *   RAPT_ERR_NOT_FOUND  a pattern that matches no intermediate and no part ("loss": none without gradients, "lens": none
 *                       without options->lens); the message has a near name;
 *   RAPT_ERR_NOT_FINITE the loss is not finite (with gradients only), or a logit is NaN or infinite;
 *   RAPT_ERR_MEMORY     out of memory;
 *   and what options->admit returns.
 * Sets the floating-point environment of the calling thread, as rapt_tape_begin does. */
RAPT_API rapt_explanation *rapt_explanation_new(const rapt_model *model, const char *text, size_t size,
                                                const rapt_explain_options *options, rapt_error *err);
/* Frees the explanation and everything that it handed out except JSON, texts and pages. NULL is fine. */
RAPT_API void rapt_explanation_free(rapt_explanation *e);

/* ---- what it holds ---------------------------------------------------------------------------------------- */

/* The tokens of one sequence: "source" or "target" (the decoder's input, from <bos> on) for a translation model, "text" for a
 * language model. */
typedef struct rapt_explained_sequence {
    const char *name;
    size_t count;
    const int32_t *ids;        /* [count] */
    const char *const *labels; /* [count]: position and token, "3 chat"; a space is written as an open box, bytes that are not
                                  UTF-8 as escapes */
    const char *const *unknown_words; /* [unknown_word_count]: words (or characters) of the text that became <unk>, each once, in
                                         order */
    size_t unknown_word_count;
} rapt_explained_sequence;

/* An intermediate, or the gradient of an intermediate or parameter; rapt/observe.h lists names, formulas and axes. */
typedef struct rapt_intermediate {
    const char *name;        /* "encoder.0.attention.weights" */
    const char *formula;     /* "softmax(masked)"; NULL for gradients of parameters */
    const char *axes;        /* one word per dimension, "batch head query key"; NULL: unnamed */
    bool gradient;           /* values are d loss / d name */
    int ndim;
    size_t shape[RAPT_MAX_DIMS];
    const rapt_real *values; /* [shape], row-major */
} rapt_intermediate;

/* The model's prediction after one token of the last sequence. */
typedef struct rapt_explained_prediction {
    size_t count;                /* tokens listed: 5, or the size of a smaller vocabulary */
    const int32_t *ids;          /* [count], the most probable first */
    const double *probabilities; /* [count], softmax of the logits, 0 to 1 */
    bool has_label;              /* a token follows this one: in the target (or <eos>), or in the text */
    int32_t label;               /* that token, if has_label */
    double loss;                 /* -ln p(label) in nats if has_label; else 0 */
} rapt_explained_prediction;

/* The number of sequences: 2 for a translation model, 1 for a language model. */
RAPT_API size_t rapt_explanation_sequence_count(const rapt_explanation *e);
/* Sequence `index`, in the order source, target; what it points to belongs to the explanation. An index out of range gives an
 * empty sequence, whose name is NULL. */
RAPT_API rapt_explained_sequence rapt_explanation_sequence(const rapt_explanation *e, size_t index);

/* The number of intermediates and gradients that are kept. */
RAPT_API size_t rapt_explanation_count(const rapt_explanation *e);
/* Intermediate or gradient number `index`, in the order of computation: intermediates, their gradients from the loss back, then
 * the gradients of parameters. It belongs to the explanation. NULL: index out of range. */
RAPT_API const rapt_intermediate *rapt_explanation_at(const rapt_explanation *e, size_t index);
/* The intermediate with this name or, with `gradient`, the gradient of the intermediate or parameter with this name. It belongs
 * to the explanation. NULL: there is none, or it was not kept. */
RAPT_API const rapt_intermediate *rapt_explanation_find(const rapt_explanation *e, const char *name, bool gradient);

/* The prediction after token `position`, counted from 0, of the last sequence. What it points to belongs to the explanation. A
 * position out of range gives an empty prediction, whose count is 0. */
RAPT_API rapt_explained_prediction rapt_explanation_prediction(const rapt_explanation *e, size_t position);
/* The logit lens (nostalgebraist, "interpreting GPT: the logit lens", LessWrong 2020): what the model would predict after one
 * token of the last sequence if it stopped early. The residual stream at a depth goes through what follows the last block: the
 * last norm (a post-norm model has none) with what multiplies or divides its result, the output matrix, the bound of the logits,
 * softmax. The model was trained to predict from the last depth only: at lower ones the probabilities say what the output matrix
 * can read in the stream already. */
typedef struct rapt_explained_lens {
    rapt_explained_prediction prediction; /* as rapt_explanation_prediction has it, but at this depth */
    size_t label_rank;         /* the label's place among all tokens, 1: the most probable one; 0 without a label */
    size_t choice_rank;        /* the place of the token that the whole model finds most probable */
    double choice_probability; /* that token's probability at this depth */
} rapt_explained_lens;

/* The number of depths of the logit lens: one more than the language model or the decoder has blocks. 0: options->lens was not
 * set. */
RAPT_API size_t rapt_explanation_lens_count(const rapt_explanation *e);
/* The logit lens at `depth` after token `position`, both counted from 0. Depth 0 is the input of the first block, depth n the
 * output of n blocks. At the last depth, `prediction` equals rapt_explanation_prediction, bit for bit. What it points to belongs
 * to the explanation. If the depth or position is out of range, all is zero. */
RAPT_API rapt_explained_lens rapt_explanation_lens(const rapt_explanation *e, size_t depth, size_t position);
/* The mean loss over all labels in nats per token if gradients were asked for; else 0. */
RAPT_API double rapt_explanation_loss(const rapt_explanation *e);
/* The target of a translation model: as it was given, or what the model wrote, as `rapt translate` writes it (detokenized and
 * capitalized if the model says so). It belongs to the explanation, and a NUL follows it. *size, unless `size` is NULL, is its
 * length. NULL for language models. */
RAPT_API const char *rapt_explanation_target(const rapt_explanation *e, size_t *size);

/* The names of the heads that are switched off in the model of the pass (rapt/heads.h), [*count]; they belong to the
 * explanation. */
RAPT_API const char *const *rapt_explanation_heads_off(const rapt_explanation *e, size_t *count);

/* ---- as text, JSON and HTML ------------------------------------------------------------------------------- */

/* How an explanation is written. */
typedef struct rapt_explain_format {
    size_t size;         /* of this struct; set by rapt_explain_format_default */
    size_t width;        /* text: max columns of a table's line; 0, and with `full`: no limit */
    int64_t position;    /* text: next-token probabilities (and the logit lens) after this token, counted from 0, or if negative
                            from the end */
    bool full;           /* all elements; if false, JSON has statistics only, and text has the corners of large matrices */
    bool table;          /* text: matrices as tables with row and column labels; if false, as PyTorch prints tensors */
    bool color;          /* text: ANSI escape sequences for a terminal */
    bool all_positions;  /* text: next-token probabilities after each token */
    uint8_t reserved[4]; /* zeros, or else refused */
} rapt_explain_format;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_explain_format_init(rapt_explain_format *o, size_t size);
/* width 80, position -1 (the last token), all else zero. */
static inline rapt_explain_format rapt_explain_format_default(void)
{
    rapt_explain_format o;
    rapt_explain_format_init(&o, sizeof o);
    return o;
}

/* All of the following functions give the caller a NUL-terminated text to free(), and its length without the NUL in *size (`size`
 * may be NULL). On failure they return a code with `err` (which may be NULL) set and leave *text alone. `format` may be NULL: the
 * defaults. */

/* A text for people: model, tokens, intermediates under headings, next-token probabilities, logit lens, loss, gradients. If
 * patterns were given, it has only the intermediates and the parts "tokens", "predictions", "lens" and "loss" that they match.
 * RAPT_ERR_VALUE: a format without a size, a position out of range; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_explanation_text(const rapt_explanation *e, const rapt_explain_format *format, char **text, size_t *size,
                                         rapt_error *err);
/* One JSON object on one line, without a newline: what `rapt explain --json` prints. Only `full` of `format` is used. Floats have
 * nine digits, enough to read the same float back; values that are not finite are "nan", "inf" and "-inf". RAPT_ERR_VALUE: a
 * format without a size; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_explanation_json(const rapt_explanation *e, const rapt_explain_format *format, char **json, size_t *size,
                                         rapt_error *err);
/* The same tokens, explained with the model of a checkpoint. */
typedef struct rapt_explained_checkpoint {
    uint64_t step;                      /* training step of the checkpoint; 0: the untrained model */
    const rapt_explanation *explanation; /* made with rapt_explain_options.like; the pattern "*.weights" suffices */
} rapt_explained_checkpoint;

/* How a page is written. Borrowed during the call. */
typedef struct rapt_explain_page_options {
    size_t size; /* of this struct; set by rapt_explain_page_options_default */
    bool full; /* all elements, exactly, whatever the size of the page: about four characters for three bytes of fp32 */
    const rapt_explained_checkpoint *checkpoints; /* [checkpoint_count], in the order of training: the page gets a slider that
                                                     shows attention weights and predictions of each */
    size_t checkpoint_count;
    const char *book; /* the address of the folder docs/book, without which the page names chapters but has no links to them:
                         http://, https:// or file://, or relative to the page's own address; NULL: none */
} rapt_explain_page_options;

/* Writes the defaults into options that have `size` bytes in the program (rapt/defaults.h). */
RAPT_API void rapt_explain_page_options_init(rapt_explain_page_options *o, size_t size);
/* At most 3 MB, no checkpoints, no links. */
static inline rapt_explain_page_options rapt_explain_page_options_default(void)
{
    rapt_explain_page_options o;
    rapt_explain_page_options_init(&o, sizeof o);
    return o;
}

/* One HTML page of at most 3 MB that needs no other file and no network: what `rapt explain --html` writes. If it cannot hold all
 * elements exactly, some intermediates are rounded to 16 or 8 bits, or left out. If logits, probabilities, embedding or output
 * matrix have more than 100,000 elements, they and their gradients are shown only for the tokens that the page names: tokens that
 * were read, the most probable ones, and the labels. The page says in place what it leaves out; minimum, mean, maximum and
 * standard deviation are always computed over all elements. Parameters, with which the page shows how a number was computed, take
 * the room that is left; with options->full at most 16 million elements. An explanation with rapt_explain_options.like has none.
 * The logit lens is on the page if `e` has one.
 *
 * `options` may be NULL: the defaults. With options->full the page has any size. Checkpoints add at most 4 MB unless it is full:
 * many attention weights are rounded to fit. RAPT_ERR_VALUE: options without a size; the checkpoints do not fit even then, or an
 * explanation of theirs has other tokens than `e` or no attention weights; the book's address is empty, longer than 2,000 bytes,
 * of another scheme, or has bytes other than visible ASCII; RAPT_ERR_MEMORY. */
RAPT_API rapt_code rapt_explanation_page(const rapt_explanation *e, const rapt_explain_page_options *options, char **html,
                                         size_t *size, rapt_error *err);

#ifdef __cplusplus
}
#endif

#endif

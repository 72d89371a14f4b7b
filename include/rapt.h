/* rapt.h: all of rapt: Transformers on CPUs, trained and run from C. It includes the headers of rapt/, which
 * can also be included one by one.
 *
 * A whole program: it loads a model folder (`rapt train` makes one) and translates a sentence. It is
 * examples/translate.c; with rapt installed, `cc translate.c $(pkg-config --cflags --libs rapt)` compiles it.
 *
 *    #include <rapt.h>
 *    #include <stdio.h>
 *
 *    int main(int argc, char **argv)
 *    {
 *        if (argc != 3)
 *            return 2;
 *        rapt_error err = {0};
 *        const char *lines[] = {argv[2]};
 *        rapt_translation out[1];
 *        rapt_translate_options options = {.beam = 4, .length_penalty = 0.6};
 *        rapt_model *model = rapt_model_load(argv[1], &err);
 *        if (model && rapt_translate(model, lines, 1, &options, out, &err) == RAPT_OK) {
 *            printf("%s\n", out[0].hypotheses[0].text);
 *            rapt_translations_free(out, 1);
 *        }
 *        rapt_model_free(model);
 *        if (err.code)
 *            fprintf(stderr, "%s\n", err.message);
 *        return err.code != RAPT_OK;
 *    }
 *
 * The parts work alone too. An attention layer of two heads over 2 sentences, of 5 and 3 tokens with 8
 * features each, its weights, and its backward pass (examples/attention.c makes a program of this):
 *
 *        rapt_params *set = rapt_params_new(1, &err);
 *        rapt_tape *t = rapt_tape_new(NULL, &err);
 *        rapt_multi_head_attention layer;
 *        rapt_attention_options options = {.hidden = 8, .heads = 2};
 *        rapt_multi_head_attention_init(&layer, set, "demo.", &options);
 *        rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
 *        rapt_tape_begin(t, (rapt_pass){.record = true});
 *        rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){2, 5, 8}, numbers, true);
 *        rapt_mask mask = {.valid_lens = (int32_t[]){5, 3}};
 *        rapt_tensor *y = rapt_multi_head_attention_forward(t, &layer, x, x, x, &mask);
 *        rapt_tensor *weights = rapt_tape_attention(t, "demo");
 *        if (rapt_backward(t, rapt_op_sum(t, y), &err) != RAPT_OK)
 *            fprintf(stderr, "%s\n", err.message);
 *
 * Afterwards y is [2, 5, 8], weights is [2, 2, 5, 5] (batch, head, query, key), and the gradients are in
 * x->grad, layer.q.weight->value.grad and so on. All of it goes with rapt_tape_free(t) and
 * rapt_params_free(set).
 *
 * What is where, easy things first
 *
 *   rapt/explain.h   one pass over a text, with all that it computed: values, JSON, a page for a browser
 *   rapt/decode.h    lines in, translations out: greedy and beam search on all threads
 *   rapt/generate.h  text generation from a prompt, with a KV cache; sampling: temperature, top-k, top-p, ...
 *   rapt/io.h        model folders: load, save; a set of parameters to and from safetensors
 *   rapt/train.h     the whole training loop; Adam, gradient norm and schedules by themselves
 *   rapt/recipe.h    recipes: what a training run depends on, as YAML or as a struct
 *   rapt/data.h      sentence pairs, the validation split, batches in an order that (seed, epoch) decides
 *   rapt/stream.h    long texts: token files, random windows for training, all of them for evaluation
 *   rapt/text.h      tokenizers: words, characters, byte-level BPE
 *   rapt/metrics.h   BLEU and chrF as sacreBLEU computes them; the sentence BLEU of the book
 *   rapt/lm.h        decoder-only language models and their decoding in a window
 *   rapt/nn.h        modules: linear, layer norm, embedding, positions, attention, FFN, blocks, encoder,
 *                    decoder and its cache
 *   rapt/observe.h    every intermediate of a pass, and its gradient, under its name
 *   rapt/profile.h   what each operation takes of a step
 *   rapt/tape.h      the tape, masks, and the operations that modules are made of
 *   rapt/tensor.h    tensors, named parameters and their initial values
 *   rapt/base.h      errors and the version
 *
 * Each header needs only those below it in this list, and not all of them.
 *
 * Shapes. Tensors are row-major, at most four dimensions, [batch, time, feature] wherever a model is
 * concerned. Numbers are rapt_real, which is float in the installed library.
 *
 * Ownership. What a `..._new`, `..._load`, `..._read` or `..._train_...` function returns belongs to the
 * caller, who gives it to the `..._free` of its type (which accepts NULL). A tensor that a tape operation
 * returns belongs to the tape and lives until its next rapt_tape_begin. A parameter belongs to its
 * set; module structs hold pointers into a set and need no freeing. Objects made from others (a loader from
 * a data set, an optimizer from a set) must go before them. Arrays are read during the call only, but for
 * rapt_pass.examples, which is read until the pass ends.
 *
 * Errors. Files, text and memory: the function returns a rapt_code, or NULL, and the `rapt_error` that it
 * takes last holds one line with the cause. The first cause is kept, so a chain of calls needs one look at
 * the end. Start from `rapt_error err = {0};`. Operations on a tape never fail visibly: the error sticks in
 * the tape, later operations do nothing, and rapt_backward, rapt_adam_step and rapt_tape_status tell. A
 * module's `..._init` leaves its failure in the set: rapt_params_error. The library never prints, never
 * exits, and has no writable globals but the chosen kernel table.
 *
 * Threads. A tape has its own threads (RAPT_THREADS, else all CPUs of the process), and is used by one
 * caller at a time. Forward passes only read a model, so several callers with a tape each may share one.
 * Inference never writes to a model: any number of threads may translate and generate with one at once, without a
 * lock, each with a translator or generator of its own (docs/embedding.md; examples/threads.c is a program). Results
 * depend neither on the number of threads nor on the ISA: see docs/number-format.md.
 *
 * All headers can be included from C++. docs/embedding.md says how to link, and what a new version may change;
 * docs/glossary.md, what the field's terms are called here.
 */
#ifndef RAPT_H
#define RAPT_H

#include "rapt/base.h"
#include "rapt/tensor.h"
#include "rapt/tape.h"
#include "rapt/observe.h"
#include "rapt/profile.h"
#include "rapt/nn.h"
#include "rapt/lm.h"
#include "rapt/text.h"
#include "rapt/metrics.h"
#include "rapt/data.h"
#include "rapt/stream.h"
#include "rapt/io.h"
#include "rapt/decode.h"
#include "rapt/generate.h"
#include "rapt/explain.h"
#include "rapt/recipe.h"
#include "rapt/train.h"

#endif

/* rapt.h: all of rapt: train and run Transformers on CPUs from C. It includes the headers of rapt/, which can also be included
 * one by one.
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
 *        rapt_translate_options options = rapt_translate_options_default();
 *        options.beam = 4;
 *        options.length_penalty = 0.6;
 *        rapt_model *model = rapt_model_load(argv[1], NULL, &err);
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
 * Each part also works alone. Here is an attention layer of two heads over 2 sentences of 5 and 3 tokens with 8 features, its
 * weights, and its backward pass (examples/attention.c is the whole program):
 *
 *        rapt_params *set = rapt_params_new(1, &err);
 *        rapt_tape *t = rapt_tape_new(NULL, &err);
 *        rapt_multi_head_attention layer;
 *        rapt_attention_options options = {.hidden = 8, .heads = 2};
 *        rapt_multi_head_attention_init(&layer, set, "demo.", &options);
 *        rapt_tape_capture_attention(t, RAPT_CAPTURE_BEFORE_DROPOUT);
 *        rapt_tape_begin(t, (rapt_pass){.record = true});
 *        rapt_tensor *x = rapt_tape_input(t, 3, (size_t[]){2, 5, 8}, elements, true);
 *        rapt_mask mask = {.valid_lens = (int32_t[]){5, 3}};
 *        rapt_tensor *y = rapt_multi_head_attention_forward(t, &layer, x, x, x, &mask);
 *        rapt_tensor *weights = rapt_tape_attention(t, "demo");
 *        if (rapt_backward(t, rapt_op_sum(t, y), &err) != RAPT_OK)
 *            fprintf(stderr, "%s\n", err.message);
 *
 * Afterwards y is [2, 5, 8], weights is [2, 2, 5, 5] (batch, head, query, key), and the gradients are in
 * x->grad, layer.q.weight->value.grad and so on. rapt_tape_free(t) and rapt_params_free(set) free all of it.
 *
 * The headers come in three tiers, each with a header that includes the others. docs/embedding.md says what each tier promises.
 *
 *   rapt/use.h       trained models in use:
 *   rapt/explain.h   one forward pass over a text, with every intermediate: values, JSON, text, a page for a browser
 *   rapt/engine.h    many requests at once to models that stay loaded: continuous batching, without sockets
 *   rapt/embed.h     embeddings of texts: the hidden states of an encoder, and one vector for each text
 *   rapt/rerank.h    scores of pairs of texts, such as a query and a document, by a cross-encoder
 *   rapt/decode.h    translation: lines in, translations out; greedy and beam search on all threads
 *   rapt/glossary.h  terms that translations must have
 *   rapt/markup.h    translating HTML and XML, whose tags are kept
 *   rapt/generate.h  text generation from a prompt, with a KV cache; sampling: temperature, top-k, top-p, ...
 *   rapt/print.h     tensors as PyTorch prints them, tables as pandas prints them
 *   rapt/figure.h    heat maps and curves as SVG, for notebooks and pages
 *   rapt/score.h     loss, perplexity and bits per byte of given texts and translations
 *   rapt/metrics.h   BLEU and chrF as sacreBLEU computes them; the sentence BLEU of the book
 *   rapt/io.h        model folders: load, save; a set of parameters to and from safetensors
 *   rapt/heads.h     the attention heads of a model, and the model with some of them switched off
 *   rapt/policy.h    how a model of Hugging Face is decoded: what its generation_config.json says
 *   rapt/chat.h      conversations as prompts, by a model's chat template
 *   rapt/text.h      tokenizers: words, characters, byte-level BPE
 *   rapt/defaults.h  structs of options that have a size, and what stands for the model's own settings
 *   rapt/base.h      errors and the version
 *
 *   rapt/train.h     training: whole runs, at once or step by step; Adam, gradient clipping and schedules by themselves
 *   rapt/group.h     the processes of a training run on several machines, and what carries their messages
 *   rapt/recipe.h    recipes: all hyperparameters and data of a training run, as YAML or as a struct
 *   rapt/stream.h    long texts: token files, random windows for training, consecutive windows for evaluation
 *   rapt/data.h      sentence pairs, the validation set, batches in an order that (seed, epoch) decides
 *
 *   rapt/parts.h     the parts of models:
 *   rapt/lm.h        decoder-only language models, and their cached decoding in a window of tokens
 *   rapt/transformer.h  the encoder-decoder, and its cached decoding
 *   rapt/nn.h        modules: linear, layer norm, embedding, positions, attention, FFN, blocks, encoder, decoder
 *   rapt/kv.h        KV caches
 *   rapt/profile.h   time, arithmetic and memory traffic of each operation of a step
 *   rapt/observe.h   every named intermediate of a pass, and its gradient, as it is computed
 *   rapt/tape.h      the tape (reverse-mode differentiation), masks, and the operations that modules are made of
 *   rapt/tensor.h    tensors, named parameters and their initialization
 *
 * A header includes the headers that it needs.
 *
 * Shapes. Tensors are row-major with at most four dimensions; in models they are [batch, time, feature]. Elements are rapt_real,
 * which is float in the installed library.
 *
 * Ownership. The caller owns what a `..._new`, `..._load`, `..._read` or `..._train_...` function returns, and passes it to the
 * `..._free` function of its type (which accepts NULL). A token file comes from rapt_token_file_open, _ensure or _from_ids and is
 * freed with rapt_token_file_close. A tensor that a tape operation returns belongs to the tape and lives until the next
 * rapt_tape_begin of that tape. A parameter belongs to its set; module structs hold pointers into a set and need no freeing. An
 * object that was made from another (a loader from a data set, an optimizer from a set, a translator or an explanation from a
 * model) must be freed before it. Arrays are read during the call only, unless the function's comment says otherwise.
 *
 * Errors. A function that can fail takes a `rapt_error *` last, which may be NULL, and returns a rapt_code, or NULL after a
 * failure. The error gets one line with the cause. It keeps the first failure, so a chain of calls needs only one check at its
 * end. Start from `rapt_error err = {0};`. Operations on a tape always return a tensor: the first failure stays in the tape,
 * later operations do nothing, and rapt_backward, rapt_adam_step and rapt_tape_status return the failure. The failure of a
 * module's `..._init` stays in the set (rapt_params_error). The library never prints, never exits, and has no writable globals
 * except the chosen kernel table.
 *
 * Threads. A `const rapt_model *` is only read: any number of threads may translate, generate and explain with one model at once,
 * without a lock, each with its own translator or generator (examples/threads.c). rapt_explain_options.gradients is the
 * exception. An object that a call changes has one caller at a time: a tape, a translator, a generator, and a set of parameters
 * that is trained. A tape runs its operations on its own threads (rapt_compute.threads, else RAPT_THREADS, else the number
 * of CPUs that this process may use). A model that was trained in this process may be shared between threads only after
 * rapt_adam_free: until then, updates of sparse rows may be deferred, and reading a parameter applies them. Results depend
 * neither on the number of threads nor, except in bf16 (rapt_compute.type), on the ISA (docs/number-format.md).
 *
 * Floating-point environment. It is part of the number format: every function that computes a pass sets the environment of the
 * calling thread to the default (round to nearest, denormals kept, no traps) and leaves it so. These are rapt_tape_begin, and
 * with it rapt_translate, rapt_translator_run, rapt_generate, rapt_generator_run and _next,
 * rapt_score_text and its kin, rapt_explanation_new, rapt_train and the functions of a trainer. A program that needs another
 * environment (rounding mode, FTZ, DAZ, traps) must save it before such a call and restore it afterwards, with fegetenv and
 * fesetenv.
 *
 * All headers can be included from C++. docs/embedding.md says how to link and what a new version may change; docs/glossary.md
 * says what the field's terms are called in rapt.
 */
#ifndef RAPT_H
#define RAPT_H

#include "rapt/parts.h"
#include "rapt/use.h"
#include "rapt/train.h"

#endif

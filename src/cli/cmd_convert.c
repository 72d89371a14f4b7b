/* cli/cmd_convert.c: `rapt convert`: a model for other programs. The work is rapt_model_export's. */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "cli/cli_model.h"
#include "cli/eval/cmd_eval.h"
#include "cli/info_types.h"
#include "cli/say.h"
#include "cli/signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_TO = 't', KEY_OUT = 'o', KEY_MERGE = 256, KEY_WEIGHTS, KEY_EVAL };
enum { CONVERT_BLOCK = 32 }; /* numbers of a block of Q8_0 and Q4_0 */

static const struct argp_option OPTIONS[] = {
    {"to", KEY_TO, "FORMAT", 0, "Format to write: hf, a Hugging Face folder for transformers; ctranslate2; gguf, a file for "
     "llama.cpp", 0},
    {"weights", KEY_WEIGHTS, "T", 0, "Type of matrices in a GGUF file, or, without --to, in a model folder of rapt: fp32 "
     "(default), f16, bf16, q8_0 or q4_0", 0},
    {"merge", KEY_MERGE, "ADAPTER", 0, "Write the model with the low-rank adapters (LoRA) of a folder added to its matrices", 0},
    {"out", KEY_OUT, "PATH", 0, "Folder or, of GGUF, file to write, which must not exist", 0},
    {"eval", KEY_EVAL, "FILE", 0, "Evaluate what was written on a file, as rapt eval does, and MODEL in fp32 beside it, and "
     "print what changed", 0},
    CLI_OPTION_QUIET("No lines about what was written and the types of matrices, and no warnings of --eval"),
    {0}};

typedef struct convert_arguments {
    const char *model, *out, *merge;
    char *eval; /* a file, or NULL */
    int to; /* a rapt_export_format; -1: not given */
    int weights; /* a rapt_export_weights; -1: not given */
    bool quiet;
} convert_arguments;

static int convert_format(const char *name, struct argp_state *state)
{
    static const char *const names[] = {[RAPT_EXPORT_HF] = "hf", [RAPT_EXPORT_CTRANSLATE2] = "ctranslate2",
                                        [RAPT_EXPORT_GGUF] = "gguf"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    cli_usage_error(state, "--to: '%s' is neither hf, ctranslate2 nor gguf", name);
}

/* "f32", as llama.cpp says, is fp32 as well. */
static int convert_weights(const char *name, struct argp_state *state)
{
    static const struct {
        const char *name;
        rapt_export_weights weights;
    } names[] = {{"fp32", RAPT_EXPORT_FP32}, {"f32", RAPT_EXPORT_FP32}, {"f16", RAPT_EXPORT_FP16}, {"bf16", RAPT_EXPORT_BF16},
                 {"q8_0", RAPT_EXPORT_Q8_0}, {"q4_0", RAPT_EXPORT_Q4_0}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0)
            return (int)names[i].weights;
    cli_usage_error(state, "--weights: '%s' is neither fp32, f16, bf16, q8_0 nor q4_0", name);
}

static void convert_check(convert_arguments *a, struct argp_state *state)
{
    if (!a->model)
        cli_usage_error(state, "missing operand: MODEL, a model folder");
    if (a->to < 0 && a->weights < 0)
        cli_usage_error(state, "missing option: --to FORMAT, or --weights T");
    if (!a->out || !*a->out)
        cli_usage_error(state, "missing option: --out PATH");
    if (a->weights >= 0 && a->to >= 0 && a->to != RAPT_EXPORT_GGUF)
        cli_usage_error(state, "--weights is for --to gguf, or without --to");
    if (a->eval && a->to == RAPT_EXPORT_CTRANSLATE2)
        cli_usage_error(state, "--eval: rapt does not read models of CTranslate2");
    if (a->to < 0)
        a->to = RAPT_EXPORT_RAPT;
}

static error_t cmd_convert_parse(int key, char *text, struct argp_state *state)
{
    convert_arguments *a = state->input;
    switch (key) {
    case KEY_TO: a->to = convert_format(text, state); return 0;
    case KEY_OUT: a->out = text; return 0;
    case KEY_MERGE: a->merge = text; return 0;
    case KEY_WEIGHTS: a->weights = convert_weights(text, state); return 0;
    case KEY_EVAL: a->eval = text; return 0;
    case CLI_KEY_QUIET: a->quiet = true; return 0;
    case ARGP_KEY_ARG: cli_operand(&a->model, text, "one model folder", state); return 0;
    case ARGP_KEY_END: convert_check(a, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS, .parser = cmd_convert_parse, .args_doc = "MODEL",
    .doc = "Write a model and its tokenizers for other programs, into a new folder, or a new GGUF file; or, with "
           "--weights alone, as a model folder for inference with weights of fewer bits."
           "\vNothing is written where the other program would compute something else: the setting of the model, or the "
           "tokenizer, that it does not have is named."};

/* Bytes of a file, or of the files of a folder. */
static double convert_size(const char *path)
{
    struct stat info;
    double bytes = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (double)info.st_size : 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (fstatat(dirfd(dir), e->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            bytes += (double)info.st_size;
    if (dir)
        closedir(dir);
    return bytes;
}

static void convert_tell(const convert_arguments *a)
{
    static const char *const kinds[] = {[RAPT_EXPORT_HF] = "a Hugging Face folder",
                                        [RAPT_EXPORT_CTRANSLATE2] = "a folder for CTranslate2",
                                        [RAPT_EXPORT_GGUF] = "a GGUF file", [RAPT_EXPORT_RAPT] = "a model folder"};
    char size[32];
    cli_say("wrote %s: %s, %s\n", a->out, kinds[a->to], cli_bytes(convert_size(a->out), size));
}

/* Blocks do not fit all matrices. */
static rapt_code convert_tell_types(const char *path, rapt_error *err)
{
    weights *w;
    info_type types[INFO_TYPES];
    rapt_code code = weights_open(path, &w, err);
    if (code)
        return code;
    const char *before = "matrices:";
    size_t count = info_types_sum(w, true, types), unfit = 0;
    for (size_t i = 0; i < weights_count(w); i++)
        unfit += weights_at(w, i)->ndim == 2 && weights_at(w, i)->shape[1] % CONVERT_BLOCK != 0;
    for (size_t i = 0; i < count; i++)
        if (types[i].tensors > 0) {
            cli_say("%s %zu in %s", before, types[i].tensors, types[i].name);
            before = ",";
        }
    if (unfit > 0)
        cli_say("; %zu of them have rows that are no multiple of %d, which blocks do not fit", unfit, CONVERT_BLOCK);
    cli_say("\n");
    weights_close(w);
    return RAPT_OK;
}

/* A file for --eval that can't be read is an error before anything is written. */
static rapt_code convert_check_file(const convert_arguments *a, rapt_error *err)
{
    struct stat info;
    if (!a->eval || strcmp(a->eval, "-") == 0)
        return RAPT_OK;
    if (access(a->eval, R_OK) != 0 || stat(a->eval, &info) != 0)
        return rapt_fail(err, RAPT_ERR_IO, "cannot read %s: %s", a->eval, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return rapt_fail(err, RAPT_ERR_IO, "cannot read %s: %s", a->eval, strerror(EISDIR));
    if (S_ISREG(info.st_mode) && info.st_size == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is empty: there is nothing to evaluate on", a->eval);
    return RAPT_OK;
}

/* Evaluates the written model and compares it with m. A Hugging Face folder of rapt's translators does not record detokenization
 * and capitals, so that its translations, and their BLEU, would differ from the model's: then only losses are compared. */
static rapt_code convert_eval(const convert_arguments *a, rapt_model *m, rapt_error *err)
{
    eval_arguments e = {.tokenize = EVAL_BY_SCRIPT, .quiet = a->quiet, .compare = m, .model = a->out, .compare_with = a->model,
                        .loss_only = a->to == RAPT_EXPORT_HF && !m->family};
    char *files[] = {a->eval};
    signals_leave();
    rapt_model *written = cli_model_adapted(a->out, NULL, true, err);
    e.files = files;
    e.file_count = 1;
    rapt_code code = written ? eval_files(&e, written, err) : err->code;
    if (code)
        cli_say("rapt: %s was written, and could not be evaluated\n", a->out);
    rapt_model_free(written);
    return code;
}

int cmd_convert(int argc, char **argv)
{
    convert_arguments a = {.to = -1, .weights = -1};
    rapt_error err = {0};
    cli_parse(&ARGP, argc, argv, &a);
    rapt_model *m = convert_check_file(&a, &err) ? NULL : cli_model_adapted(a.model, a.merge, false, &err);
    const rapt_export_options options = {.to = (rapt_export_format)a.to, .stop = signals_stop,
                                         .weights = a.weights < 0 ? RAPT_EXPORT_FP32 : (rapt_export_weights)a.weights};
    signals_catch();
    rapt_code code = m ? rapt_model_export(m, a.out, &options, &err) : err.code;
    if (!code && !a.quiet)
        convert_tell(&a);
    if (!code && options.weights >= RAPT_EXPORT_Q8_0 && !a.quiet)
        code = convert_tell_types(a.out, &err);
    if (!code && signals_stop(NULL))
        code = RAPT_ERR_INTERRUPTED;
    if (!code && a.eval)
        code = convert_eval(&a, m, &err);
    rapt_model_free(m);
    if (code == RAPT_ERR_INTERRUPTED)
        return signals_status();
    return code ? cli_fail(&err) : 0;
}

/* cli/cmd_convert.c: `rapt convert`: a model for other programs. The work is rapt_model_export's. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "base/disk.h"
#include "base/rows.h"
#include "cli/cli_model.h"
#include "cli/eval/cmd_eval.h"
#include "cli/info_types.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "io/model_core.h"
#include "tensor/type.h"

#include <errno.h>
#include <string.h>

enum { CONVERT_BLOCK = 32 }; /* numbers of a block of Q8_0 and Q4_0 */

typedef struct convert_arguments {
    const char *model, *out, *merge;
    const char *eval; /* a file, or NULL */
    rapt_export_format to;
    rapt_type weights;
    bool quiet;
} convert_arguments;

/* "f32" and "f16", as llama.cpp says, are fp32 and fp16. */
static void convert_take_weights(const cli_option *o, void *in, const char *text)
{
    convert_arguments *a = in;
    const char *name = strcmp(text, "f32") == 0 ? "fp32" : strcmp(text, "f16") == 0 ? "fp16" : text;
    if (rapt_type_parse(name, &a->weights, NULL) != RAPT_OK)
        usage_error("--%s: '%s' is none of fp32, f16, bf16, q8_0, q4_0", o->name, text);
}

#define ARGUMENTS convert_arguments
static const cli_option OPTIONS[] = {
    OPTION_WORD("to", "FORMAT", AT(to), RAPT_EXPORT_HF, "hf, ctranslate2, gguf", "Format to write: hf, a Hugging Face folder for "
                "transformers; ctranslate2; gguf, a file for llama.cpp", .letter = 't'),
    OPTION_TAKE("weights", "T", convert_take_weights, "Type of matrices in a GGUF file, or, without --to, in a model folder "
                "of rapt: fp32 (default), f16, bf16, q8_0 or q4_0", .words = "fp32, f16, bf16, q8_0, q4_0"),
    OPTION_TEXT("merge", "ADAPTER", AT(merge), "Write the model with the low-rank adapters (LoRA) of a folder added to its "
                "matrices"),
    OPTION_TEXT("out", "PATH", AT(out), "Folder or, of GGUF, file to write, which must not exist", .letter = 'o'),
    OPTION_TEXT("eval", "FILE", AT(eval), "Evaluate what was written on a file, as rapt eval does, and MODEL in fp32 beside it, "
                "and print what changed"),
    OPTION_FLAG("quiet", AT(quiet), "No lines about what was written and the types of matrices, and no warnings of --eval"),
    {0}};

static void cmd_convert_finish(void *arguments)
{
    convert_arguments *a = arguments;
    const bool has_to = options_given("to"), has_weights = options_given("weights");
    if (!has_to && !has_weights)
        usage_error("missing option: --to FORMAT, or --weights T");
    if (!a->out || !*a->out)
        usage_error("missing option: --out PATH");
    if (has_weights && has_to && a->to != RAPT_EXPORT_GGUF)
        usage_error("--weights is for --to gguf, or without --to");
    if (a->eval && has_to && a->to == RAPT_EXPORT_CTRANSLATE2)
        usage_error("--eval: rapt does not read models of CTranslate2");
    if (!has_to)
        a->to = RAPT_EXPORT_RAPT;
}

const cli_command convert_command = {
    .options = OPTIONS, .operands = "MODEL",
    .about = "Write a model and its tokenizers for other programs, into a new folder, or a new GGUF file; or, with --weights "
             "alone, as a model folder for inference with weights of fewer bits.",
    .notes = "Nothing is written where the other program would compute something else: the setting of the model, or the "
             "tokenizer, that it does not have is named.",
    .least = 1, .missing = "MODEL, a model folder", .most = 1, .takes = "one model folder", .operand = {AT(model)},
    .finish = cmd_convert_finish};

/* Bytes of a file, or of the files of a folder. */
static double convert_size(const char *path)
{
    disk_entry info;
    double bytes = disk_is_file(path, &info) ? (double)info.size : 0;
    disk_folder *folder = disk_folder_open(path);
    for (const char *name; folder && (name = disk_folder_next(folder));)
        if (disk_look_in(folder, name, &info) && info.kind == DISK_FILE)
            bytes += (double)info.size;
    disk_folder_close(folder);
    return bytes;
}

static void convert_tell(const convert_arguments *a)
{
    static const char *const kinds[] = {[RAPT_EXPORT_HF] = "a Hugging Face folder",
                                        [RAPT_EXPORT_CTRANSLATE2] = "a folder for CTranslate2",
                                        [RAPT_EXPORT_GGUF] = "a GGUF file", [RAPT_EXPORT_RAPT] = "a model folder"};
    ROWS_FIT(kinds, RAPT_EXPORT_FORMATS, 0);
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
    disk_entry info;
    if (!a->eval || strcmp(a->eval, "-") == 0)
        return RAPT_OK;
    if (!disk_may_read(a->eval) || !disk_look(a->eval, &info))
        return rapt_fail(err, RAPT_ERR_IO, "cannot read %s: %s", a->eval, strerror(errno));
    if (info.kind == DISK_FOLDER)
        return rapt_fail(err, RAPT_ERR_IO, "cannot read %s: %s", a->eval, strerror(EISDIR));
    if (info.kind == DISK_FILE && info.size == 0)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s is empty: there is nothing to evaluate on", a->eval);
    return RAPT_OK;
}

/* Evaluates the written model and compares it with m. A Hugging Face folder of rapt's translators does not record detokenization
 * and capitals, so that its translations, and their BLEU, would differ from the model's: then only losses are compared. */
static rapt_code convert_eval(const convert_arguments *a, rapt_model *m, rapt_error *err)
{
    eval_arguments e = {.tokenize = EVAL_BY_SCRIPT, .o = rapt_translate_options_default(), .quiet = a->quiet, .compare = m,
                        .model = a->out, .compare_with = a->model, .loss_only = a->to == RAPT_EXPORT_HF && !m->family};
    char *files[] = {(char *)a->eval};
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
    convert_arguments a = {.weights = RAPT_TYPE_FP32};
    rapt_error err = {0};
    options_parse(&convert_command, argc, argv, &a);
    rapt_model *m = convert_check_file(&a, &err) ? NULL : cli_model_adapted(a.model, a.merge, false, &err);
    rapt_export_options options = rapt_export_options_default();
    options.to = a.to, options.weights = a.weights, options.stop = signals_stop;
    signals_catch();
    rapt_code code = m ? rapt_model_export(m, a.out, &options, &err) : err.code;
    if (!code && !a.quiet)
        convert_tell(&a);
    if (!code && type_has_blocks(options.weights) && !a.quiet)
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

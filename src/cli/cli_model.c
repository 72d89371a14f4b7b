/* cli/cli_model.c: models for commands. The library never prints: that a folder has no seal is only a field of the model. */
#include "cli/cli_model.h"

#include "base/memory.h"
#include "cli/cmd_info.h"
#include "cli/say.h"
#include "io/model_core.h"
#include "io/model_heads.h"

static void cli_model_say(const char *folder)
{
    cli_say("rapt: note: %s: nothing binds model.safetensors to config.json (rapt 0.1 made it, or another program), so "
            "that a changed number would not be noticed; `rapt info %s --seal` binds them\n", folder, folder);
}

static rapt_model *cli_model_load(const char *folder, const rapt_load_options *o, rapt_error *err)
{
    rapt_model *m = rapt_model_load(folder, o, err);
    memory_trim(); /* the JSON of a large vocabulary left free memory */
    if (m && !m->sealed && !m->family)
        cli_model_say(folder);
    return m;
}

static rapt_model *cli_model_refuse_encoder(rapt_model *m, const char *folder, rapt_error *err)
{
    if (!m || !m->encoder.net)
        return m;
    const bool pairs = m->task == RAPT_TASK_CROSS_ENCODER;
    rapt_fail(err, RAPT_ERR_VALUE, "%s is %s; rapt %s runs it", folder, pairs ? "a cross-encoder" : "an encoder",
              pairs ? "rerank" : "embed");
    rapt_model_free(m);
    return NULL;
}

rapt_model *cli_model(const char *folder, rapt_error *err)
{
    return cli_model_adapted(folder, NULL, false, err);
}

rapt_model *cli_model_any_inference(const char *folder, rapt_error *err)
{
    return cli_model_adapted(folder, NULL, true, err);
}

rapt_model *cli_model_adapted(const char *folder, const char *adapter, bool inference, rapt_error *err)
{
    rapt_load_options o = rapt_load_options_default();
    o.inference = inference;
    o.adapter = adapter;
    return cli_model_refuse_encoder(cli_model_load(folder, &o, err), folder, err);
}

rapt_model *cli_model_inference(const char *folder, const char *adapter, rapt_task task, rapt_error *err)
{
    rapt_load_options o = rapt_load_options_default();
    o.task = task;
    o.inference = true;
    o.adapter = adapter;
    return cli_model_load(folder, &o, err);
}

rapt_model *cli_model_without(rapt_model *m, const cli_heads *heads, rapt_error *err)
{
    rapt_error why = {0};
    if (!m || heads->count == 0)
        return m;
    rapt_model *without = rapt_model_without_heads(m, heads->names, heads->count, &why);
    if (without) {
        model_heads_own(without, m);
        return without;
    }
    rapt_fail(err, why.code, "--without-head: %s", why.message);
    rapt_model_free(m);
    return NULL;
}

void cli_model_deeper_reason(const char *folder, rapt_task task, rapt_error *err)
{
    rapt_error why = {0};
    rapt_load_options o = rapt_load_options_default();
    o.task = task;
    o.inference = true;
    rapt_model *m = rapt_model_load(folder, &o, &why);
    if (!m && (why.code == RAPT_ERR_VALUE || why.code == RAPT_ERR_NOT_FOUND))
        *err = why;
    rapt_model_free(m);
}

void cli_model_limit_context(rapt_model *m, long long context)
{
    size_t *own = &m->language.net->config.context;
    if (context > 0 && (size_t)context < *own)
        *own = (size_t)context;
}

void cli_note_seal(const char *folder)
{
    bool sealed;
    if (!info_weights_is_foreign(folder) && rapt_model_is_sealed(folder, &sealed, NULL) == RAPT_OK && !sealed)
        cli_model_say(folder);
}

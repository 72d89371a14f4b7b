/* io/export/export.c: rapt_model_export: models for other programs. */
#include "io/export/export_kinds.h"

#include "base/sized.h"
#include "io/config_block.h"
#include "io/model.h"
#include "io/model_heads.h"

/* The tables of classes are of models that our config.json describes. */
static rapt_code export_check(const rapt_model *m, const char *path, rapt_error *err)
{
    json_t *root = json_object();
    rapt_code code = root ? model_describe(m, root, path, err)
                          : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", path);
    json_decref(root);
    return code;
}

/* For a model of rapt: a word of its positions that rapt writes for no other program; or NULL. */
static const char *unknown_positions(const rapt_model *m)
{
    const bool lm = m->task == RAPT_TASK_LANGUAGE_MODEL;
    const rapt_positions_kind kind = lm ? m->language.net->config.positions : m->translation.net->config.positions;
    return kind == RAPT_POSITIONS_NONE || kind == RAPT_POSITIONS_ALIBI ? CONFIG_POSITIONS[kind] : NULL;
}

SIZED_ENDS_WITH(rapt_export_options, context);

void rapt_export_options_init(rapt_export_options *o, size_t size)
{
    sized_init(o, size, &(rapt_export_options){.size = sizeof(rapt_export_options)}, sizeof *o);
}

rapt_code rapt_model_export(const rapt_model *m, const char *path, const rapt_export_options *options, rapt_error *err)
{
    rapt_export_options o = rapt_export_options_default();
    if (sized_take(&o, options, NULL, 0, "export_options", err) != RAPT_OK)
        return RAPT_ERR_VALUE;
    if ((unsigned)o.to > RAPT_EXPORT_RAPT || (unsigned)o.weights > RAPT_TYPE_FP16)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: there is no format %d, or no type of weights %d", path, (int)o.to,
                         (int)o.weights);
    rapt_code code = model_heads_refuse(m, "exported", err);
    code = code || m->family ? code : export_check(m, path, err);
    const char *positions = m->family || o.to == RAPT_EXPORT_RAPT ? NULL : unknown_positions(m);
    if (!code && positions)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s: the model has \"positions\": \"%s\", which rapt writes for no other program",
                         path, positions);
    if (code)
        return code;
    if (o.to == RAPT_EXPORT_GGUF)
        return export_gguf(m, path, &o, err);
    if (m->family)
        return export_hub(m, path, &o, err);
    if (o.to == RAPT_EXPORT_RAPT)
        return export_rapt(m, path, &o, err);
    return o.to == RAPT_EXPORT_CTRANSLATE2 ? export_ctranslate2(m, path, &o, err) : export_hf(m, path, &o, err);
}

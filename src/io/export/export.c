/* io/export/export.c: rapt_model_export: models for other programs. */
#include "io/export/export_ctranslate2.h"
#include "io/export/export_hf.h"
#include "io/export/export_hub.h"

#include "io/model.h"

/* The tables of classes are of models that our config.json describes. */
static rapt_code export_check(const rapt_model *m, const char *folder, rapt_error *err)
{
    json_t *root = json_object();
    rapt_code code = root ? model_describe(m, root, folder, err)
                          : rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for JSON", folder);
    json_decref(root);
    return code;
}

rapt_code rapt_model_export(const rapt_model *m, const char *folder, const rapt_export_options *options, rapt_error *err)
{
    const rapt_export_options o = options ? *options : (rapt_export_options){0};
    rapt_code code = m->family ? RAPT_OK : export_check(m, folder, err);
    if (code)
        return code;
    if (m->family)
        return export_hub(m, folder, &o, err);
    return o.to == RAPT_EXPORT_CTRANSLATE2 ? export_ctranslate2(m, folder, &o, err) : export_hf(m, folder, &o, err);
}

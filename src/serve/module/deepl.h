/* serve/module/deepl.h: DeepL's interface, for its clients. Options that rapt lacks (formality, glossaries, tags, context) are
 * refused by name. */
#ifndef SERVE_MODULE_DEEPL_H
#define SERVE_MODULE_DEEPL_H

#include "serve/module/app.h"

/* POST /v2/translate: {"text": [...], "source_lang"?, "target_lang"}, JSON or a form. Codes of languages in any case; "EN-US" is
 * "en". */
app_route_fn deepl_translate;
/* GET /v2/languages?type=source or target. */
app_route_fn deepl_languages;
/* GET /v2/usage: characters since the start. */
app_route_fn deepl_usage;

#endif

/* serve/module/endpoints.h: the endpoints of the dialects that need one file, and of operators. For routes.c. */
#ifndef SERVE_MODULE_ENDPOINTS_H
#define SERVE_MODULE_ENDPOINTS_H

#include "serve/module/app.h"

/* ---- deepl.c: DeepL's interface, for its clients. Options that rapt lacks (formality, tags, context) are refused by
 * name. */

/* POST /v2/translate: {"text": [...], "source_lang"?, "target_lang"}, JSON or a form. Codes of languages in any case; "EN-US" is
 * "en". */
app_route_fn deepl_translate;
/* GET /v2/languages?type=source or target. */
app_route_fn deepl_languages;
/* deepl_glossaries.c. POST /v2/glossaries: {"name", "source_lang", "target_lang", "entries", "entries_format"?}, JSON or a
 * form. */
app_route_fn deepl_glossary_add;
/* GET /v2/glossaries; /v2/glossaries/ID, and .../entries as TSV; DELETE /v2/glossaries/ID: the key owner's. */
app_route_fn deepl_glossary_list, deepl_glossary_get, deepl_glossary_delete;
/* GET /v2/glossary-language-pairs. */
app_route_fn deepl_glossary_pairs;
/* GET /v2/usage: characters since the start. */
app_route_fn deepl_usage;

/* ---- learn.c: pages for readers. */

/* GET /learn: the page of the lesson, with the tag of its bytes in ETag; 304 where If-None-Match has it. 404 where there is none,
 * with a message that says how to get it. */
app_route_fn learn_get;
/* GET /: the server's page, with a link to /learn if that is there. */
app_route_fn learn_home;

/* ---- libre.c: LibreTranslate's interface, for its clients. */

/* POST /translate: {"q", "source", "target", "format"?, "alternatives"?, "api_key"?}, JSON or a form. */
app_route_fn libre_translate;
/* GET /languages: all source and target languages, each with those that models translate it to. */
app_route_fn libre_languages;
/* POST /detect: {"q"}. Languages are not identified: if all models have one source language, it is the answer, with confidence 0;
 * otherwise the request is refused. */
app_route_fn libre_detect;

/* ---- ops.c: endpoints for operators and their tools: health, readiness, metrics, and the description of the interface. */

/* GET /health: 200 as long as the process answers. */
app_route_fn ops_health;
/* GET /ready: 200 if requests are accepted; otherwise 503 with the reason. */
app_route_fn ops_ready;
/* GET /metrics: Prometheus' text format. */
app_route_fn ops_metrics;
/* GET /openapi.json: the interface of all routes. */
app_route_fn ops_openapi;

#endif

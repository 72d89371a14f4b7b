/* serve/module/libre.h: LibreTranslate's interface, for its clients. */
#ifndef SERVE_MODULE_LIBRE_H
#define SERVE_MODULE_LIBRE_H

#include "serve/module/app.h"

/* POST /translate: {"q", "source", "target", "format"?, "alternatives"?, "api_key"?}, JSON or a form. */
app_route_fn libre_translate;
/* GET /languages: all source and target languages, each with those that models translate it to. */
app_route_fn libre_languages;
/* POST /detect: {"q"}. Languages are not identified: if all models have one source language, it is the answer, with confidence 0;
 * otherwise the request is refused. */
app_route_fn libre_detect;

#endif

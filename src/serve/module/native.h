/* serve/module/native.h: rapt's own interface, for functions that the other dialects lack. Fields that a request leaves out have
 * the defaults of the command line. Errors are as in OpenAI's dialect, because its paths also begin with /v1/. */
#ifndef SERVE_MODULE_NATIVE_H
#define SERVE_MODULE_NATIVE_H

#include "serve/module/app.h"
#include "serve/module/fields.h"
#include "serve/module/reply.h"

/* POST /v1/translate: {"text" or "texts", "model" or "source"? and "target", options of `rapt translate`}: hypotheses with
 * scores, tokens and alignments. */
app_route_fn native_translate;
/* POST /v1/translate/score: {"texts", "translations", "model" or "source"? and "target", "tokens"?, "strict"?}: log-probabilities
 * of given translations, as `rapt eval --each` has them. */
app_route_fn native_score;
/* POST /v1/explain: {"text", "model"?, "target"?, "format"?: "json" or "html", "only"?, "full"?, "lens"?, "strict"?,
 * "book"?}: the output of `rapt explain --json`, or the page. GET takes these as parameters of the query, for links, but not for
 * links of other sites. */
app_route_fn native_explain;
/* POST /v1/tokenize: {"text" or "texts", "model"?, "side"?, "special"?}: ids and texts of tokens. */
app_route_fn native_tokenize;
/* POST /v1/detokenize: {"ids", "model"?, "side"?}: the text of ids. */
app_route_fn native_detokenize;

/* ---- for these ----------------------------------------------------------------------------------------------------------- */

/* "text", or "texts", a list of 1 to `max`: see fields_texts. */
const char **native_texts(fields *f, size_t max, size_t *count, bool *list);
struct translating;
/* The model that the fields name, or the model of their languages "source" and "target", or the first one. */
void native_choose_translator(struct translating *t, fields *f);
/* The tokenizer of a model; for a translation model, the one that the field "side" names: "source" (default) or "target". */
const rapt_tokenizer *native_tokenizer(fields *f, const served *s);
/* Writes {"ids": [...], "tokens": [...]}: the tokens' texts as OpenAI's dialect writes them. */
void native_put_tokens(reply_body *to, const rapt_tokenizer *k, const int32_t *ids, size_t count);

#endif

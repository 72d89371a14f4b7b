/* serve/module/routes.c: the table. The files of each dialect have the functions. */
#include "serve/module/router.h"

#include "serve/module/endpoints.h"
#include "serve/module/native.h"
#include "serve/module/openai.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a body that is always read in less than a millisecond or two, in endpoints whose work is linear in the body. Not for
 * endpoints whose work depends on the model's files, such as a chat template, or that check a model's pass first. */
enum { SHORT = 1024 };

const route ROUTES[] = {
    {"GET", "/", learn_home, ROUTE_OPEN, .work = ROUTE_AT_ONCE},
    {"GET", "/learn", learn_get, ROUTE_OPEN, .work = ROUTE_AT_ONCE},
    {"GET", "/health", ops_health, ROUTE_OPEN, .work = ROUTE_AT_ONCE},
    {"GET", "/ready", ops_ready, ROUTE_OPEN, .work = ROUTE_AT_ONCE},
    {"GET", "/openapi.json", ops_openapi, ROUTE_OPEN, .work = ROUTE_AT_ONCE},
    {"GET", "/metrics", ops_metrics, ROUTE_KEY, .work = ROUTE_AT_ONCE},
    {"GET", "/v1/models", openai_models, ROUTE_KEY, .work = ROUTE_AT_ONCE},
    {"GET", "/v1/models/*", openai_models, ROUTE_KEY, .work = ROUTE_AT_ONCE},
    {"POST", "/v1/completions", openai_completions, ROUTE_KEY, .work = ROUTE_COMPUTES, SHORT, "response_format"},
    {"POST", "/v1/chat/completions", openai_chat, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"POST", "/v1/responses", openai_responses, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"POST", "/v1/embeddings", openai_embeddings, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"POST", "/v1/rerank", openai_rerank, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"POST", "/v2/rerank", openai_rerank, ROUTE_KEY, .work = ROUTE_COMPUTES}, /* the path of Cohere's newer clients */
    {"POST", "/rerank", openai_any_rerank, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"POST", "/v1/score", openai_score, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"POST", "/v1/translate", native_translate, ROUTE_KEY, .work = ROUTE_COMPUTES, SHORT},
    {"POST", "/v1/translate/score", native_score, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"GET", "/v1/explain", native_explain, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"POST", "/v1/explain", native_explain, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"POST", "/v1/tokenize", native_tokenize, ROUTE_KEY, .work = ROUTE_COMPUTES, SHORT},
    {"POST", "/v1/detokenize", native_detokenize, ROUTE_KEY, .work = ROUTE_COMPUTES, SHORT},
    {"POST", "/translate", libre_translate, ROUTE_KEY_OR_FIELD, .work = ROUTE_COMPUTES, SHORT},
    {"POST", "/detect", libre_detect, ROUTE_KEY_OR_FIELD, .work = ROUTE_COMPUTES, SHORT},
    {"GET", "/languages", libre_languages, ROUTE_OPEN, .work = ROUTE_AT_ONCE},
    {"POST", "/v2/translate", deepl_translate, ROUTE_KEY, .work = ROUTE_COMPUTES, SHORT},
    {"GET", "/v2/languages", deepl_languages, ROUTE_KEY, .work = ROUTE_READS},
    {"POST", "/v2/glossaries", deepl_glossary_add, ROUTE_KEY, .work = ROUTE_COMPUTES, SHORT},
    {"GET", "/v2/glossaries", deepl_glossary_list, ROUTE_KEY, .work = ROUTE_AT_ONCE},
    {"GET", "/v2/glossaries/*", deepl_glossary_get, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"DELETE", "/v2/glossaries/*", deepl_glossary_delete, ROUTE_KEY, .work = ROUTE_COMPUTES},
    {"GET", "/v2/glossary-language-pairs", deepl_glossary_pairs, ROUTE_KEY, .work = ROUTE_AT_ONCE},
    {"GET", "/v2/usage", deepl_usage, ROUTE_KEY, .work = ROUTE_AT_ONCE},
};
const size_t ROUTE_COUNT = sizeof ROUTES / sizeof *ROUTES;

static bool path_fits(const char *pattern, const char *path)
{
    const size_t size = strlen(pattern);
    if (pattern[size - 1] == '*')
        return strncmp(pattern, path, size - 1) == 0 && path[size - 1];
    return strcmp(pattern, path) == 0;
}

const route *routes_find(const char *method, const char *path, const route **with_method)
{
    const route *first = NULL;
    *with_method = NULL;
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    for (const route *r = ROUTES; r < ROUTES + ROUTE_COUNT; r++)
        if (path_fits(r->path, path)) {
            first = first ? first : r;
            if (!*with_method && strcmp(method, r->method) == 0)
                *with_method = r;
        }
    return first;
}

void routes_methods(const char *path, char *text, size_t size)
{
    const route *get, *post, *delete;
    routes_find("GET", path, &get);
    routes_find("POST", path, &post);
    routes_find("DELETE", path, &delete);
    snprintf(text, size, "%s%s%sOPTIONS", get ? "GET, HEAD, " : "", post ? "POST, " : "", delete ? "DELETE, " : "");
}

/* recipe/recipe_corpora.c: counts corpora, reads their weights and the rules of their filter. */
#include "recipe/recipe_corpora.h"

#include "base/buffer.h"
#include "base/chars.h"
#include "base/disk.h"
#include "base/number.h"
#include "base/quote.h"
#include "data/check/check_rules.h"
#include "data/corpus_pass.h"
#include "data/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHT_TEXT = 64 }; /* bytes of a weight in a list, with its NUL */

const char *recipe_list_between(const recipe_key *key)
{
    static const char *const by_line[] = {"data.pairs", "data.validation"};
    for (size_t i = 0; i < sizeof by_line / sizeof *by_line; i++)
        if (strcmp(key->name, by_line[i]) == 0)
            return PAIRS_BETWEEN;
    return strcmp(key->name, "data.text") == 0 ? ":" : "";
}

const char *recipe_corpora_between(const recipe_key *key)
{
    const char *between = recipe_list_between(key);
    return strcmp(between, PAIRS_BETWEEN) == 0 ? between : "";
}

char *recipe_map_paths(const recipe_key *key, const char *value, recipe_path_fn *make, void *context)
{
    const char *between = recipe_corpora_between(key);
    buffer all = {0};
    bool kept = true;
    for (size_t size; *value && kept; value += size + (value[size] != '\0')) {
        size = disk_list_part(value, between);
        char *part = size > 0 ? chars_copy_part(value, size) : NULL, *made = part ? make(context, part) : NULL;
        kept = size == 0 || (made && (all.size == 0 || buffer_append(&all, between, strlen(between))) &&
                             buffer_append(&all, made, strlen(made)));
        free(made);
        free(part);
    }
    if (!kept || !buffer_append(&all, "", 0)) /* a text also of no path */
        buffer_free(&all);
    return all.data;
}

size_t recipe_corpora(const rapt_recipe *r)
{
    const char *list = r->data.pairs;
    size_t count = 0;
    for (size_t size; list && *list; list += size + (list[size] != '\0')) {
        size = disk_list_part(list, PAIRS_BETWEEN);
        count += size > 0;
    }
    return count;
}

bool recipe_weight_read(const char *text, double *weight, char reason[RECIPE_REASON])
{
    char *end = NULL;
    const bool number = *text && !text[strspn(text, "0123456789+-.eE")];
    *weight = number ? number_read(text, &end) : 0;
    if (number && *end == '\0' && *weight > 0 && *weight <= CORPUS_PASS_MOST)
        return true;
    snprintf(reason, RECIPE_REASON, "the weight of a corpus is \"%s\"; it must be a number above 0 and at most %d: a corpus "
             "without weight is left out of the list", quote(text).text, CORPUS_PASS_MOST);
    return false;
}

/* One weight of a list, which may have spaces around it. */
static bool weight_read_part(const char *text, size_t size, double *weight, char reason[RECIPE_REASON])
{
    char one[WEIGHT_TEXT];
    for (; size > 0 && *text == ' '; text++)
        size--;
    while (size > 0 && text[size - 1] == ' ')
        size--;
    if (size >= sizeof one) {
        snprintf(reason, RECIPE_REASON, "data.weights has \"%s\", which is longer than a weight may be, %d characters",
                 quote_bytes(text, size).text, WEIGHT_TEXT - 1);
        return false;
    }
    memcpy(one, text, size);
    one[size] = '\0';
    return recipe_weight_read(one, weight, reason);
}

bool recipe_weights(const rapt_recipe *r, double *weights, char reason[RECIPE_REASON])
{
    const size_t corpora = recipe_corpora(r);
    const char *at = r->data.weights;
    double weight = 1;
    size_t count = 0;
    for (bool more = at && *at; more; count++) {
        const size_t size = strcspn(at, ",");
        if (!weight_read_part(at, size, &weight, reason))
            return false;
        if (weights && count < corpora)
            weights[count] = weight;
        more = at[size] == ',';
        at += size + more;
    }
    for (size_t i = 0; i < corpora && weights && !r->data.weights; i++)
        weights[i] = 1;
    if (!r->data.weights || count == corpora)
        return true;
    snprintf(reason, RECIPE_REASON, "data.weights is %s, %zu weight%s; data.pairs names %zu corp%s", quote(r->data.weights).text,
             count, count == 1 ? "" : "s", corpora, corpora == 1 ? "us" : "ora");
    return false;
}

bool recipe_filter(const rapt_recipe *r, check_options *out, char reason[RECIPE_REASON])
{
    const char *unknown;
    char names[CHECK_RULES_TEXT];
    size_t size;
    *out = (check_options){.ratio = r->data.filter.ratio, .margin = (double)r->data.filter.margin};
    if (!r->data.filter.rules || check_rules_read(r->data.filter.rules, &out->rules, &unknown, &size))
        return true;
    check_rules_list(names);
    snprintf(reason, RECIPE_REASON, "data.filter.rules has \"%s\"; there are all, or %s", quote_bytes(unknown, size).text, names);
    return false;
}

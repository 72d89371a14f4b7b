/* decode/languages.c: finds languages among a model's tokens. NLLB's "deu_Latn", mBART's "de_DE" and M2M100's "__de__" begin a
 * source and a translation; Marian's ">>deu<<" and MADLAD's "<2de>" begin a source and name the target language. */
#include "decode/languages.h"

#include "base/chars.h"
#include "base/quote.h"
#include "io/model_core.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_CODE = 32, LISTED = 8 };

typedef struct language_form {
    const char *before, *after; /* of the code */
    bool of_target;             /* the token of a target language stands before the source */
} language_form;

static const language_form FORMS[] = {{"", "", false}, {"__", "__", false}, {">>", "<<", true}, {"<2", ">", true}};
enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Whether a text is "xx_XX" or "xxx_Xxxx"; it may lack the "_" if it was `marked` by surrounding characters. */
static bool looks_like_code(const char *text, size_t size, bool marked)
{
    size_t letters = 0;
    while (letters < size && is_lower(text[letters]))
        letters++;
    if (letters < 2 || letters > 3)
        return false;
    if (letters == size)
        return marked;
    for (size_t i = letters + 1; i < size; i++)
        if (!is_lower(text[i]) && !(text[i] >= 'A' && text[i] <= 'Z') && !(marked && strchr("_-0123456789", text[i])))
            return false;
    return (text[letters] == '_' || (marked && text[letters] == '-')) && size - letters > 2 && size < LONGEST_CODE;
}

/* The form of a special token that is a language, with its code in *code[*size]; NULL: it is not a language. */
static const language_form *form_of(const rapt_tokenizer *k, int32_t id, const char **code, size_t *size)
{
    size_t whole;
    const char *text = rapt_tokenizer_token(k, id, &whole);
    for (size_t i = 0; text && whole < LONGEST_CODE && i < FORM_COUNT; i++) {
        const size_t before = strlen(FORMS[i].before), after = strlen(FORMS[i].after);
        if (whole <= before + after || memcmp(text, FORMS[i].before, before) != 0 ||
            memcmp(text + whole - after, FORMS[i].after, after) != 0)
            continue;
        *code = text + before;
        *size = whole - before - after;
        if (looks_like_code(*code, *size, before > 0) && rapt_tokenizer_special(k, text) == id)
            return &FORMS[i];
    }
    return NULL;
}

/* The id of the language with this code; *form becomes the form of its token. -1: there is none. */
static int32_t find_language(const rapt_tokenizer *k, const char *wanted, const language_form **form)
{
    const char *code;
    size_t size;
    for (size_t id = 0; id < rapt_tokenizer_size(k); id++) {
        *form = form_of(k, (int32_t)id, &code, &size);
        if (*form && strlen(wanted) == size && memcmp(wanted, code, size) == 0)
            return (int32_t)id;
    }
    return -1;
}

static bool has_languages(const rapt_tokenizer *k)
{
    const char *code;
    size_t size;
    for (size_t id = 0; id < rapt_tokenizer_size(k); id++)
        if (form_of(k, (int32_t)id, &code, &size))
            return true;
    return false;
}

/* "deu_Latn, eng_Latn, ..." */
static void list_languages(const rapt_tokenizer *k, char *text, size_t room)
{
    size_t used = 0, count = 0;
    for (size_t id = 0; id < rapt_tokenizer_size(k) && count <= LISTED && used < room; id++) {
        const char *code;
        size_t size;
        if (!form_of(k, (int32_t)id, &code, &size))
            continue;
        const bool more = count++ == LISTED;
        used += (size_t)snprintf(text + used, room - used, "%s%.*s", used ? ", " : "", more ? 3 : (int)size,
                                 more ? "..." : code);
    }
}

static rapt_code refuse_language(const rapt_tokenizer *k, const char *code, rapt_error *err)
{
    char list[(LISTED + 1) * (LONGEST_CODE + 2)] = "";
    list_languages(k, list, sizeof list);
    if (!*list)
        return rapt_fail(err, RAPT_ERR_VALUE, "the model has no tokens of languages: none can be chosen");
    if (!code)
        return rapt_fail(err, RAPT_ERR_VALUE, "the model translates to several languages, and none is chosen: %s", list);
    return rapt_fail(err, RAPT_ERR_VALUE, "the model has no language \"%s\": it has %s", quote(code).text, list);
}

/* ---- both sides ------------------------------------------------------------------------------------------------- */

/* Takes the place of the language that tokenizer.json puts before a source. */
static rapt_code set_source(languages *l, const rapt_model *m, const char *wanted, rapt_error *err)
{
    const rapt_tokenizer *k = m->translation.source;
    const language_form *form = NULL;
    const char *code;
    size_t size;
    const int32_t id = find_language(k, wanted, &form);
    if (id < 0)
        return refuse_language(k, wanted, err);
    for (size_t i = 0; i < l->count && !form->of_target; i++)
        if (form_of(k, l->begin[i], &code, &size)) {
            l->begin[i] = id;
            return RAPT_OK;
        }
    return rapt_fail(err, RAPT_ERR_VALUE, "the model is not told the language of a source: no token stands for it");
}

static rapt_code set_target(languages *l, const rapt_model *m, const char *wanted, rapt_error *err)
{
    const language_form *form = NULL;
    const int32_t id = find_language(m->translation.source, wanted, &form);
    if (id < 0)
        return refuse_language(m->translation.source, wanted, err);
    if (form->of_target) {
        memmove(l->begin + 1, l->begin, l->count++ * sizeof *l->begin);
        l->begin[0] = id;
    } else {
        l->forced = id;
        l->policy.forced_bos = (rapt_token_list){&l->forced, 1};
    }
    return RAPT_OK;
}

/* A decoder whose start token is the end of text learns the language only from a forced first token. */
static bool lacks_target(const languages *l, const rapt_model *m)
{
    return m->family && l->policy.forced_bos.count == 0 && m->translation.special.bos == m->translation.special.eos &&
           has_languages(m->translation.source);
}

rapt_code languages_set(languages *l, const rapt_model *m, const rapt_translate_options *o, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    *l = (languages){.count = m->translation.source_begin_count, .policy = m->search};
    memcpy(l->begin, m->translation.source_begin, sizeof m->translation.source_begin);
    if (o->source_language)
        code = set_source(l, m, o->source_language, err);
    if (!code && o->target_language)
        code = set_target(l, m, o->target_language, err);
    if (!code && l->count >= m->translation.max_len)
        code = rapt_fail(err, RAPT_ERR_VALUE, "the model takes %zu tokens, but %zu begin each line", m->translation.max_len,
                         l->count);
    return code || !lacks_target(l, m) ? code : refuse_language(m->translation.source, NULL, err);
}

rapt_code languages_of_line(const rapt_model *m, rapt_text line, int32_t *token, size_t *size, rapt_error *err)
{
    char text[LONGEST_CODE + 1], code[LONGEST_CODE + 1];
    const char *const begin = line.data;
    const bool marked = m->family && strcmp(m->family, "marian") == 0 && line.size > 2 && memcmp(begin, ">>", 2) == 0;
    const char *end = marked ? chars_find(begin + 2, line.size - 2, "<<", 2) : NULL;
    *size = end ? (size_t)(end + 2 - begin) : 0;
    if (!end)
        return RAPT_OK;
    snprintf(text, sizeof text, "%.*s", (int)(end + 2 - begin < LONGEST_CODE ? end + 2 - begin : LONGEST_CODE), begin);
    snprintf(code, sizeof code, "%.*s", (int)(end - begin - 2 < LONGEST_CODE ? end - begin - 2 : LONGEST_CODE), begin + 2);
    *token = rapt_tokenizer_special(m->translation.source, text);
    return *token >= 0 ? RAPT_OK : refuse_language(m->translation.source, code, err);
}

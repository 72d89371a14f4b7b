/* tests/fuzz/long_readers.c: the readers for long inputs. */
#define _GNU_SOURCE
#include "fuzz/long_readers.h"

#include "base/buffer.h"
#include "options.h"
#include "rapt/chat.h"
#include "rapt/metrics.h"
#include "recipe/recipe_read.h"
#include "search/token_text.h"
#include "search/valid_text.h"
#include "serve/module/body_kinds.h"
#include "text/chat/jinja.h"
#include "text/json_text.h"
#include "text/prose/capitalize.h"
#include "text/prose/detokenize.h"
#include "text/prose/sentences.h"
#include "text/split/split.h"
#include "text/tokenizer.h"
#include "text/unicode/unicode.h"

long_reader *long_readers;
size_t long_reader_count;
static size_t reader_capacity;

static void add(const char *name, void (*run)(const void *of, const char *text, size_t size), const void *of, bool valid)
{
    require(ARRAY_RESERVE(&long_readers, &reader_capacity, long_reader_count + 1));
    long_readers[long_reader_count++] = (long_reader){strdup(name), run, of, valid};
}

/* ---- tokenizers ------------------------------------------------------------------------------------------- */

static rapt_code look_away(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)context, (void)text, (void)size, (void)err;
    return RAPT_OK;
}

/* As they are sent, one after the other. */
static void show_tokens(const rapt_tokenizer *k, const int32_t *ids, size_t count)
{
    token_text shown;
    text_stream *out = text_stream_new(NULL, 0, look_away, NULL, NULL);
    require(out != NULL);
    token_text_begin(&shown, k, 0);
    for (size_t i = 0; i < count; i++)
        require(token_text_next(&shown, ids, i + 1, out, NULL) == RAPT_OK);
    text_stream_free(out);
}

static void run_tokenizer(const void *of, const char *text, size_t size)
{
    int32_t *ids;
    size_t count, back_size;
    for (int specials = 0; specials < 2; specials++)
        if (rapt_tokenizer_encode_bytes(of, text, size, &ENCODE(.specials = specials), &ids, &count, NULL) == RAPT_OK) {
            free(rapt_tokenizer_decode(of, ids, count, &back_size));
            show_tokens(of, ids, count);
            free(ids);
        }
}

static void add_tokenizer(const char *name, rapt_tokenizer *k, const rapt_error *err)
{
    if (!k)
        fprintf(stderr, "%s: %s\n", name, err->message);
    require(k != NULL);
    add(name, run_tokenizer, k, false);
}

static void add_tokenizer_files(void)
{
    static const char *const files[] = {
        "golden/hub/gpt2/tokenizer.json", "golden/hub/llama/tokenizer.json", "golden/hub_encoder/bert/tokenizer.json",
        "golden/hub_encoder/roberta/tokenizer.json", "golden/hub_encoder/xlm_roberta_4/tokenizer.json",
        "golden/hub_translation/t5/tokenizer.json", "golden/hub_translation/mbart/tokenizer.json",
        "golden/hub_translation/pegasus/tokenizer.json", "golden/hub_translation/marian/source.spm",
        "text/sentencepiece/unigram.model", "text/sentencepiece/unigram_bytes.model", "text/sentencepiece/unigram_rules.model",
        "text/sentencepiece/unigram_suffix.model", "text/sentencepiece/bpe.model", "text/sentencepiece/bpe_bytes.model",
        "text/sentencepiece/bpe_deep.model", "text/sentencepiece/bpe_ties.model", "text/sentencepiece/characters.model",
        "text/sentencepiece/words.model", "text/sentencepiece/kept_long.model",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[1024];
        rapt_error err = {0};
        snprintf(path, sizeof path, "%s/tests/%s", RAPT_SOURCE_DIR, files[i]);
        add_tokenizer(files[i], rapt_tokenizer_load(path, &err), &err);
    }
}

static json_t *golden(const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/%s", RAPT_SOURCE_DIR, file);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, NULL);
    require(root != NULL);
    return root;
}

/* Pipelines of all kinds of components. */
static void add_pipelines(void)
{
    static const char *const names[] = {
        "llama2", "llama2_metaspace", "gemma", "some_bytes", "nllb", "bert_cased", "words", "smollm", "byte_normalizer",
        "openai", "prefixed", "removed", "isolated", "previous", "next", "contiguous", "contiguous_inverted", "flags",
        "unigram", "unigram_bytes", "precompiled",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[64];
        rapt_error err = {0};
        snprintf(file, sizeof file, "text/pipeline/%s.json", names[i]);
        json_t *root = golden(file);
        char *text = json_dumps(json_object_get(root, "tokenizer"), 0);
        add_tokenizer(file, tokenizer_from_text(file, text, strlen(text), &err), &err);
        free(text);
        json_decref(root);
    }
}

static void add_trained(const char *const *units, size_t count)
{
    static const char *const patterns[] = {SPLIT_GPT2, SPLIT_CL100K, SPLIT_O200K, SPLIT_LLAMA3, SPLIT_QWEN2,
                                           "(?:" SPLIT_GPT2 ")", "[^\\n]+|\\n"};
    static const char *const specials[] = {"<|x|>", "<|x|>y"};
    static const char *const lines[] = {"the a", "ab . won't"};
    const rapt_words_options lower = TRAIN_WORDS(.lowercase = true);
    buffer text = {0};
    rapt_error err = {0};
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < 40 && utf8_valid_prefix(units[i], strlen(units[i])) == strlen(units[i]); j++)
            require(buffer_append(&text, units[i], strlen(units[i])));
    rapt_bpe_options o = TRAIN_BPE(.vocab_size = 700, .specials = specials, .special_count = 2, .threads = 1);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        o.pattern = patterns[i];
        add_tokenizer(patterns[i], rapt_tokenizer_train_bpe(text.data, text.size, &o, &err), &err);
    }
    for (o.normalization = RAPT_NORMALIZATION_NFC; o.normalization <= RAPT_NORMALIZATION_PLAIN_LOWERCASE; o.normalization++)
        add_tokenizer("normalizing BPE", rapt_tokenizer_train_bpe(text.data, text.size, &o, &err), &err);
    add_tokenizer("words", rapt_tokenizer_train_words(lines, 2, NULL, &err), &err);
    add_tokenizer("lower-case words", rapt_tokenizer_train_words(lines, 2, &lower, &err), &err);
    add_tokenizer("characters", rapt_tokenizer_train_characters(text.data, text.size, &err), &err);
    buffer_free(&text);
}

static void run_split(const void *of, const char *text, size_t size)
{
    split_walk *w = split_walk_new(of, NULL);
    for (size_t at = 0, end; w && at < size && split_next(w, text, size, at, &end, NULL) == RAPT_OK; at = end)
        ;
    split_walk_free(w);
}

static void add_patterns(void)
{
    json_t *root = golden("golden/unicode.json");
    const char *pattern;
    json_t *sum;
    json_object_foreach(json_object_get(root, "patterns"), pattern, sum) {
        split *s = split_new(pattern, NULL);
        require(s != NULL);
        add(pattern, run_split, s, false);
    }
    json_decref(root);
}

/* ---- templates -------------------------------------------------------------------------------------------- */

static void render(const jinja_template *t, json_t *variables)
{
    char *text;
    size_t size;
    require(variables != NULL);
    jinja_template_render(t, variables, &(jinja_bounds){.now = 1721999109}, &text, &size, NULL);
    free(text);
    json_decref(variables);
}

static void run_long_message(const void *of, const char *text, size_t size)
{
    json_t *c = json_stringn(text, size);
    render(of, json_pack("{s:[{s:s, s:O}, {s:s, s:O}, {s:s, s:O}], s:o, s:n, s:b, s:s, s:s}", "messages", "role", "system",
                         "content", c, "role", "user", "content", c, "role", "assistant", "content", c, "c", c, "tools",
                         "add_generation_prompt", 1, "bos_token", "<s>", "eos_token", "</s>"));
}

/* The end of the part that begins at `from`: of eight bytes, or one character more. */
static size_t part_end(const char *text, size_t size, size_t from)
{
    size_t end = from;
    uint32_t code;
    while (end < size && end < from + 8)
        end += utf8_decode(text + end, size - end, &code);
    return end;
}

static void run_many_messages(const void *of, const char *text, size_t size)
{
    json_t *list = json_array(), *by_name = json_object();
    for (size_t at = 0, end; at < size; at = end) {
        char name[32];
        end = part_end(text, size, at);
        const char *role = json_array_size(list) % 2 ? "assistant" : "user";
        json_t *one = json_pack("{s:s, s:s%}", "role", role, "content", text + at, end - at);
        snprintf(name, sizeof name, "%zu", at);
        require(json_array_append_new(list, one) == 0 && json_object_set(by_name, name, one) == 0);
    }
    render(of, json_pack("{s:o, s:o, s:n, s:b, s:s, s:s}", "messages", list, "d", by_name, "tools", "add_generation_prompt", 1,
                         "bos_token", "<s>", "eos_token", "</s>"));
}

static void add_template(const char *text, bool of_messages, bool of_message)
{
    rapt_error err = {0};
    jinja_template *t = jinja_template_new("t", text, strlen(text), &err);
    if (!t)
        fprintf(stderr, "%s: %s\n", text, err.message);
    require(t != NULL);
    if (of_message)
        add(text, run_long_message, t, true);
    if (of_messages)
        add(text, run_many_messages, t, true);
}

/* What a template calls once for a text, or once for all messages. */
static void add_templates(void)
{
    static const char *const of_text[] = {
        "capitalize", "count", "default('')", "first", "float", "indent", "int", "join", "last", "list", "lower",
        "replace('a', 'bc')", "replace('', '-')", "reverse", "safe", "string", "title", "tojson", "trim", "trim('\xCC\x81')",
        "upper",
    };
    static const char *const methods[] = {
        "strip()", "lstrip()", "rstrip()", "strip('a\xCC\x81')", "split()", "split('a')", "rsplit()", "rsplit('a')",
        "splitlines()", "startswith('a')", "endswith('a')", "replace('a', 'b')", "upper()", "lower()", "title()",
        "capitalize()", "find('!?')", "rfind('!?')", "count('a')", "find(c ~ 'a')", "find(c[9:])", "removeprefix('a')",
        "removesuffix('a')", "join('ab')",
    };
    static const char *const own[] = {
        "{{ c[9:] }}{{ c[::-1] }}{{ c[-1] }}{{ c ~ c }}{{ c in c }}{{ 'no' in c }}{{ c == c[1:] }}{{ c < c }}{{ c[::2] }}",
        "{% for x in c %}{{ x }}{% endfor %}",
    };
    static const char *const of_messages[] = {
        "{{ messages | map(attribute='content') | join('-') }}",
        "{{ messages | map(attribute='content') | map('upper') | list }}",
        "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}",
        "{{ messages | rejectattr('role', 'in', ['user']) | list }}",
        "{{ messages | tojson(indent=2) }}{{ d | tojson(sort_keys=true) }}", "{{ messages | reverse | list | string }}",
        "{{ messages[1:] }}{{ messages[::-1] }}",
        "{{ d | items | list }}{{ d.keys() | list }}{{ d.values() | list }}{{ d | tojson }}",
        "{{ (messages + messages) | last }}",
        "{% for k, v in d.items() %}{{ k }}{{ v.content | trim }}{{ loop.index }}{% endfor %}",
        "{% for k in d %}{{ d[k].content }}{{ d.get(k).role }}{{ k in d }}{% endfor %}",
        "{% for m in messages %}{{ loop.previtem.role }}{{ loop.changed(m.role) }}{{ loop.cycle('a', 'b') }}{% endfor %}",
        "{% for m in messages %}{{ messages[loop.index0].content }}{{ messages[-1].role }}{{ messages | length }}{% endfor %}",
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% set x = m.content %}{{ x }}{% endfor %}",
        "{% macro f(m) %}{{ m.content | trim }}{% endmacro %}{% for m in messages if m.role == 'user' %}{{ f(m) }}{% endfor %}",
    };
    char text[256];
    for (size_t i = 0; i < sizeof of_text / sizeof *of_text; i++) {
        snprintf(text, sizeof text, "{{ c | %s }}", of_text[i]);
        add_template(text, false, true);
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        snprintf(text, sizeof text, "{{ c.%s }}", methods[i]);
        add_template(text, false, true);
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        add_template(own[i], false, true);
    for (size_t i = 0; i < sizeof of_messages / sizeof *of_messages; i++)
        add_template(of_messages[i], true, false);
}

/* Adds models' templates, which are longer than the others in that file. */
static void add_model_templates(void)
{
    json_t *root = golden("text/chat/templates.json");
    const json_t *groups = json_object_get(root, "groups");
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *template = json_object_get(json_array_get(groups, i), "template");
        if (json_string_length(template) > 600)
            add_template(json_string_value(template), true, true);
    }
    json_decref(root);
}

static void run_as_template(const void *of, const char *text, size_t size)
{
    jinja_template *t = jinja_template_new("t", text, size, NULL);
    if (t)
        render(t, json_pack("{s:[]}", "messages"));
    jinja_template_free(t);
    (void)of;
}

/* ---- other texts ------------------------------------------------------------------------------------------ */

static void run_form(const void *of, const char *text, size_t size)
{
    buffer out = {0};
    require(unicode_append_form(&out, text, size, *(const unicode_form *)of));
    buffer_free(&out);
}

static void run_lower(const void *of, const char *text, size_t size)
{
    free(utf8_lowercase(text, size, &size));
    (void)of;
}

/* A JSON text of it, between what comes before and after. */
static void run_json(const void *of, const char *text, size_t size)
{
    const char *const *around = of;
    char *whole;
    int length = asprintf(&whole, "%s%s%s", around[0], text, around[1]);
    require(length >= (int)size);
    json_error_t where;
    json_t *root = json_text_read(whole, (size_t)length, JSON_REJECT_DUPLICATES, &where);
    if (root)
        free(json_text(root, JSON_INDENT(1)));
    json_decref(root);
    free(whole);
}

static void run_json_text(const void *of, const char *text, size_t size)
{
    json_t *list = json_array(), *root = json_pack("{s:s%, s:o, s:f}", "text", text, size, "list", list, "real", 0.1);
    for (size_t i = 0; i < size / 8; i++)
        json_array_append_new(list, json_real(0.1 * (double)i));
    char *written = json_text(root, 0);
    json_t *again = json_text_read(written, strlen(written), 0, NULL);
    require(json_equal(root, again));
    json_decref(again);
    free(written);
    json_decref(root);
    (void)of;
}

static void run_web_form(const void *of, const char *text, size_t size)
{
    const char *reason;
    json_decref(form_read(text, size, &reason));
    (void)of;
}

static void run_sentences(const void *of, const char *text, size_t size)
{
    for (int kind = CUT_SENTENCE; kind <= CUT_SPACE; kind++)
        for (size_t at = 0; at < size; at = sentences_skip_spaces(text, size, at))
            at = sentences_end(text, size, at, (sentences_cut)kind);
    sentences_are_several(text, size);
    (void)of;
}

static void run_prose(const void *of, const char *text, size_t size)
{
    free(capitalize(text));
    free(detokenize(text, *(const rapt_language *)of, true));
    (void)size;
}

static rapt_code take_text(void *context, const char *text, size_t size, rapt_error *err)
{
    (void)context, (void)text, (void)size, (void)err;
    return RAPT_OK;
}

static void run_stream(const void *of, const char *text, size_t size)
{
    static const char *const stops[] = {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "  !", "\n\n\n.", "\xE4\xB8\xAD\xE4\xB8\xAD."};
    size_t length;
    text_stream *s = text_stream_new(stops, 4, take_text, NULL, NULL);
    for (size_t at = 0; s && at < size; at += 3)
        require(text_stream_push(s, text + at, size - at < 3 ? size - at : 3, NULL) == RAPT_OK);
    text_stream_free(s);
    free(valid_text(text, size, &length, NULL));
    (void)of;
}

static void run_bleu(const void *of, const char *text, size_t size)
{
    const rapt_bleu_options o = BLEU(.tokenize = *(const rapt_tokenize *)of, .lowercase = true);
    const rapt_text references[] = {{text, size}, {text + size / 2, size - size / 2}};
    rapt_bleu bleu;
    rapt_bleu_sentence(&o, references, references, 1 + (size > 0 && (text[size / 2] & 0xC0) != 0x80), &bleu, NULL);
    rapt_bleu_tokenize_for(references, 1);
}

static void run_chrf(const void *of, const char *text, size_t size)
{
    const rapt_chrf_options o = CHRF(.word_order = 2, .whitespace = true);
    const rapt_text references[] = {{text, size}};
    double score;
    rapt_chrf_sentence(&o, references, references, 1, &score, NULL);
    (void)of;
}

static void run_book_bleu(const void *of, const char *text, size_t size)
{
    const rapt_text whole = {text, size};
    rapt_bleu_book(&whole, &whole, 4);
    (void)of;
}

static void run_recipe(const void *of, const char *text, size_t size)
{
    const char *const *around = of;
    char *whole;
    rapt_recipe recipe = {0};
    int length = asprintf(&whole, "%s%s%s", around[0], text, around[1]);
    require(length >= (int)size);
    if (recipe_parse("r", whole, (size_t)length, true, &recipe, NULL) == RAPT_OK)
        rapt_recipe_free(&recipe);
    free(whole);
}

static void add_texts(void)
{
    static const unicode_form forms[] = {UNICODE_NFC, UNICODE_NFD, UNICODE_NFKC, UNICODE_NFKD};
    static const rapt_tokenize tokenizations[] = {RAPT_TOKENIZE_13A, RAPT_TOKENIZE_NONE, RAPT_TOKENIZE_INTL, RAPT_TOKENIZE_CHAR,
                                                  RAPT_TOKENIZE_ZH};
    static const rapt_language languages[] = {RAPT_LANGUAGE_NONE, RAPT_LANGUAGE_GERMAN, RAPT_LANGUAGE_ENGLISH,
                                              RAPT_LANGUAGE_FRENCH};
    static const char *const json[][2] = {{"", ""}, {"[", "0]"}, {"\"", "\""}, {"{\"a\":\"", "\"}"}};
    static const char *const yaml[][2] = {{"", ""}, {"data:\n  pairs: \"", "\"\n"}, {"data: [", "]\n"},
                                          {"data:\n  pairs: |\n    ", "\n"}};
    for (size_t i = 0; i < 4; i++) {
        add("form of Unicode", run_form, &forms[i], true);
        add("detokenization", run_prose, &languages[i], true);
        add("JSON", run_json, json[i], false);
        add("recipe", run_recipe, yaml[i], false);
    }
    for (size_t i = 0; i < 5; i++)
        add("BLEU", run_bleu, &tokenizations[i], true);
    add("lower case", run_lower, NULL, true);
    add("JSON that is written", run_json_text, NULL, true);
    add("form of a page", run_web_form, NULL, false);
    add("template", run_as_template, NULL, false);
    add("sentences", run_sentences, NULL, true);
    add("stream with stop strings", run_stream, NULL, false);
    add("chrF", run_chrf, NULL, true);
    add("BLEU of the book", run_book_bleu, NULL, true);
}

void long_readers_make(const char *const *units, size_t count)
{
    add_texts();
    add_trained(units, count);
    add_tokenizer_files();
    add_pipelines();
    add_patterns();
    add_templates();
    add_model_templates();
}

void long_readers_free(void)
{
    for (size_t i = 0; i < long_reader_count; i++) {
        const long_reader *r = &long_readers[i];
        bool last = i + 1 == long_reader_count || long_readers[i + 1].of != r->of; /* two may have one template */
        if (r->run == run_tokenizer)
            rapt_tokenizer_free((rapt_tokenizer *)r->of);
        else if (r->run == run_split)
            split_free((split *)r->of);
        else if ((r->run == run_long_message || r->run == run_many_messages) && last)
            jinja_template_free((jinja_template *)r->of);
        free((char *)r->name);
    }
    free(long_readers);
}

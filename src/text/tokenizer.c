/* text/tokenizer.c: the words tokenizer: training, encoding, decoding. For translation. Its file format is in
 * tokenizer_file.c. */
#include "text/tokenizer.h"

#include "base/rng.h"
#include "text/normalise.h"

#include <stdlib.h>
#include <string.h>

const char *const tokenizer_specials[RAPT_SPECIALS] = {"<unk>", "<pad>", "<bos>", "<eos>"};

rapt_tokenizer *tokenizer_new(bool lowercase, rapt_error *err)
{
    rapt_tokenizer *k = calloc(1, sizeof *k);
    if (!k) {
        rapt_fail(err, RAPT_NO_MEMORY, "no memory for a tokenizer");
        return NULL;
    }
    word_table_init(&k->words);
    k->lowercase = lowercase;
    return k;
}

void rapt_tokenizer_free(rapt_tokenizer *k)
{
    if (!k)
        return;
    word_table_free(&k->words);
    free(k);
}

/* Calls see(context, word, length) for each word of a normalised text; stops when it says false. */
static bool each_word(const char *text, bool (*see)(void *context, const char *word, size_t length), void *context)
{
    static const char spaces[] = " \t\r\n\v\f";
    for (text += strspn(text, spaces); *text; text += strspn(text, spaces)) {
        size_t length = strcspn(text, spaces);
        if (!see(context, text, length))
            return false;
        text += length;
    }
    return true;
}

static bool count_word(void *context, const char *word, size_t length)
{
    word_table *t = context;
    int64_t index = word_table_add(t, word, length);
    if (index < 0)
        return false;
    t->entries[index].count++;
    return true;
}

static bool count_line(word_table *t, const char *line, bool lowercase)
{
    char *text = normalise_sentence(line, lowercase);
    bool ok = text && each_word(text, count_word, t);
    free(text);
    return ok;
}

typedef struct ranked {
    const word_entry *entry;
    size_t index;
} ranked;

static int by_count(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->entry->count != y->entry->count)
        return x->entry->count < y->entry->count ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

static bool is_special(const char *word)
{
    for (int i = 0; i < RAPT_SPECIALS; i++)
        if (strcmp(word, tokenizer_specials[i]) == 0)
            return true;
    return false;
}

static bool add_token(rapt_tokenizer *k, const char *word)
{
    return word_table_add(&k->words, word, strlen(word)) >= 0;
}

static bool take_frequent(rapt_tokenizer *k, const word_table *counted, const rapt_words_options *o)
{
    ranked *order = malloc((counted->size + 1) * sizeof *order);
    if (!order)
        return false;
    for (size_t i = 0; i < counted->size; i++)
        order[i] = (ranked){&counted->entries[i], i};
    qsort(order, counted->size, sizeof *order, by_count);
    bool ok = true;
    for (int i = 0; i < RAPT_SPECIALS; i++)
        ok = ok && add_token(k, tokenizer_specials[i]);
    for (size_t i = 0; ok && i < counted->size && (!o->max_size || k->words.size < o->max_size); i++)
        if (order[i].entry->count >= o->min_freq && !is_special(order[i].entry->word))
            ok = add_token(k, order[i].entry->word);
    free(order);
    return ok;
}

rapt_tokenizer *rapt_tokenizer_train_words(const char *const *lines, size_t count, const rapt_words_options *options,
                                           rapt_error *err)
{
    word_table counted;
    rapt_tokenizer *k = tokenizer_new(options->lowercase, err);
    word_table_init(&counted);
    bool ok = k != NULL;
    for (size_t i = 0; ok && i < count; i++)
        ok = count_line(&counted, lines[i], options->lowercase);
    ok = ok && take_frequent(k, &counted, options);
    word_table_free(&counted);
    if (ok)
        return k;
    rapt_fail(err, RAPT_NO_MEMORY, "no memory for a vocabulary");
    rapt_tokenizer_free(k);
    return NULL;
}

size_t rapt_tokenizer_size(const rapt_tokenizer *k)
{
    return k->words.size;
}

const char *rapt_tokenizer_token(const rapt_tokenizer *k, int32_t id)
{
    return id >= 0 && (size_t)id < k->words.size ? k->words.entries[id].word : NULL;
}

uint64_t rapt_tokenizer_hash(const rapt_tokenizer *k)
{
    uint64_t h = k->lowercase;
    for (size_t i = 0; i < k->words.size; i++)
        h = rng_mix(h, rng_hash_text(k->words.entries[i].word));
    return h;
}

typedef struct encoding {
    const rapt_tokenizer *k;
    int32_t *ids;
    size_t count;
} encoding;

static bool encode_word(void *context, const char *word, size_t length)
{
    encoding *e = context;
    int64_t id = word_table_find(&e->k->words, word, length);
    e->ids[e->count++] = id < RAPT_SPECIALS ? RAPT_UNK : (int32_t)id; /* special tokens can't be typed */
    return true;
}

rapt_code rapt_tokenizer_encode(const rapt_tokenizer *k, const char *text, int32_t **ids, size_t *count, rapt_error *err)
{
    char *sentence = normalise_sentence(text, k->lowercase);
    /* a word and the space after it are two bytes at least */
    encoding e = {k, sentence ? malloc((strlen(sentence) / 2 + 1) * sizeof *e.ids) : NULL, 0};
    if (e.ids)
        each_word(sentence, encode_word, &e);
    free(sentence);
    *ids = e.ids;
    *count = e.count;
    return e.ids ? RAPT_OK : rapt_fail(err, RAPT_NO_MEMORY, "no memory for the tokens of a line");
}

static bool is_silent(int32_t id)
{
    return id == RAPT_BOS || id == RAPT_PAD;
}

char *rapt_tokenizer_decode(const rapt_tokenizer *k, const int32_t *ids, size_t count)
{
    size_t size = 1, end = 0;
    for (; end < count && ids[end] != RAPT_EOS; end++) {
        const char *token = rapt_tokenizer_token(k, ids[end]);
        size += token && !is_silent(ids[end]) ? strlen(token) + 1 : 0;
    }
    char *text = malloc(size), *to = text;
    for (size_t i = 0; text && i < end; i++) {
        const char *token = rapt_tokenizer_token(k, ids[i]);
        if (!token || is_silent(ids[i]))
            continue;
        if (to > text)
            *to++ = ' ';
        memcpy(to, token, strlen(token));
        to += strlen(token);
    }
    if (text)
        *to = '\0';
    return text;
}

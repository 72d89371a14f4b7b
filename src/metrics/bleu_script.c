/* metrics/bleu_script.c: the tokenization of BLEU that suits the script of a text. For `rapt eval`, BLEU in training, and the
 * warnings of `rapt score`. It does not guess the language, except that kana tell Japanese from Chinese. */
#include "rapt/metrics.h"

#include "text/utf8.h"

/* Counts of characters of scripts without spaces, and of words of other letters. */
struct script_counts {
    size_t han, kana, unspaced, words;
};

static bool is_within(uint32_t code, const uint32_t (*ranges)[2])
{
    for (; (*ranges)[1]; ranges++)
        if (code >= (*ranges)[0] && code <= (*ranges)[1])
            return true;
    return false;
}

/* The count of a letter of a script that is written without spaces, or NULL. */
static size_t *unspaced_count(struct script_counts *c, uint32_t code)
{
    static const uint32_t han[][2] = {{0x3005, 0x3007}, {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
                                      {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}, {0}};
    static const uint32_t kana[][2] = {{0x3041, 0x309F}, {0x30A1, 0x30FA}, {0x31F0, 0x31FF}, {0xFF66, 0xFF9F}, {0}};
    static const uint32_t others[][2] = {{0x0E01, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}, {0}}; /* from Thai to Khmer */
    return is_within(code, han) ? &c->han : is_within(code, kana) ? &c->kana : is_within(code, others) ? &c->unspaced : NULL;
}

/* Stops at bytes that are not UTF-8, which scoring reports. */
static void count_scripts(const rapt_text *text, struct script_counts *c)
{
    const size_t size = text->size;
    bool in_word = false;
    uint32_t code;
    for (size_t at = 0, used; at < size && (used = utf8_decode(text->data + at, size - at, &code)) > 0; at += used) {
        const bool letter = utf8_is_letter(code);
        size_t *count = letter ? unspaced_count(c, code) : NULL;
        if (count)
            ++*count;
        c->words += letter && !count && !in_word;
        in_word = letter && !count;
    }
}

rapt_tokenize rapt_bleu_tokenize_for(const rapt_text *texts, size_t count)
{
    enum { JAPANESE = 10 }; /* one kana or more in N of its characters */
    struct script_counts c = {0};
    for (size_t i = 0; i < count; i++)
        count_scripts(&texts[i], &c);
    if (c.han + c.kana + c.unspaced <= c.words)
        return RAPT_TOKENIZE_13A;
    return c.han > c.unspaced && JAPANESE * c.kana < c.han + c.kana ? RAPT_TOKENIZE_ZH : RAPT_TOKENIZE_CHAR;
}

const char *rapt_tokenize_name(rapt_tokenize kind)
{
    switch (kind) {
#define NAME_CASE(name, text)                                                                                \
    case name:                                                                                               \
        return text;
        RAPT_TOKENIZERS(NAME_CASE)
#undef NAME_CASE
    }
    return NULL;
}

/* metrics/words.c: numbers words with a trie of their letters. For BLEU and chrF. Not a tokenizer: words are separated by white
 * space. */
#include "metrics/words.h"

static uint32_t words_add_word(struct trie *known, const struct codes *text, struct word word)
{
    uint32_t node = TRIE_ROOT;
    for (size_t i = word.start; i < word.end; i++)
        node = trie_add(known, node, text->at[i]);
    return node;
}

static uint32_t find_word(const struct trie *known, const struct codes *text, struct word word)
{
    uint32_t node = TRIE_ROOT;
    for (size_t i = word.start; i < word.end; i++) {
        node = trie_find(known, node, text->at[i]);
        if (node == TRIE_ROOT)
            return WORDS_UNKNOWN;
    }
    return node;
}

static rapt_code words_fail_memory(size_t letters, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for the words of %zu characters", letters);
}

rapt_code words_add(struct trie *known, const struct codes *text, struct codes *numbers, rapt_error *err)
{
    if (!trie_clear(known, text->count) || !codes_reserve(numbers, text->count))
        return words_fail_memory(text->count, err);
    for (struct word word = {0}; codes_next_word(text, word.end, &word);)
        numbers->at[numbers->count++] = words_add_word(known, text, word);
    return RAPT_OK;
}

rapt_code words_find(const struct trie *known, const struct codes *text, struct codes *numbers,
                     rapt_error *err)
{
    if (!codes_reserve(numbers, text->count))
        return words_fail_memory(text->count, err);
    for (struct word word = {0}; codes_next_word(text, word.end, &word);)
        numbers->at[numbers->count++] = find_word(known, text, word);
    return RAPT_OK;
}

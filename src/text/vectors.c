/* text/vectors.c: word vectors as GloVe, word2vec and fastText write them, into the rows of an embedding matrix. For training
 * runs with train.vectors, and for programs that make an embedding from them. Not a table of all words: a file may have
 * gigabytes, and only words in the vocabulary are kept. */
#include "rapt/text.h"

#include "base/number.h"
#include "text/text_in.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64, WORD_MAX = 1 << 16 };

/* A token as it would stand in such a file. */
typedef struct vectors_token {
    const char *text;
    size_t size;
    int32_t id;
} vectors_token;

/* The file, and the rows that it fills. */
typedef struct vectors_reader {
    const char *path, *at, *end; /* `at` moves on */
    size_t record;               /* the line, or of binary files the word, from 1 */
    size_t promised;             /* number of words by the header; 0: no header */
    size_t d;
    vectors_token *tokens; /* [token_count], sorted by text */
    size_t token_count;
    bool *filled; /* [token_count] */
    rapt_real *table;
    rapt_vectors_result result;
} vectors_reader;

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

static int vectors_compare(const void *a, const void *b)
{
    const vectors_token *x = a, *y = b;
    const size_t size = x->size < y->size ? x->size : y->size;
    const int order = size ? memcmp(x->text, y->text, size) : 0;
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static rapt_code vectors_list_tokens(vectors_reader *r, const rapt_tokenizer *k, size_t entries, rapt_error *err)
{
    r->tokens = malloc((entries + 1) * sizeof *r->tokens);
    r->filled = calloc(entries + 1, sizeof *r->filled);
    if (!r->tokens || !r->filled)
        return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for %zu tokens", r->path, entries);
    for (size_t id = 0; id < entries; id++) {
        size_t size;
        const char *text = rapt_tokenizer_token(k, (int32_t)id, &size);
        if (!text)
            continue;
        const size_t space = size > 1 && *text == ' '; /* byte-level BPE begins words with one */
        r->tokens[r->token_count++] = (vectors_token){text + space, size - space, (int32_t)id};
    }
    qsort(r->tokens, r->token_count, sizeof *r->tokens, vectors_compare);
    r->result.tokens = r->token_count;
    return RAPT_OK;
}

/* The first of possibly several tokens with this text; token_count: there is none, or it has its vector already. */
static size_t vectors_find(const vectors_reader *r, const char *word, size_t size)
{
    const vectors_token wanted = {word, size, 0};
    size_t low = 0, high = r->token_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (vectors_compare(&r->tokens[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < r->token_count && vectors_compare(&r->tokens[low], &wanted) == 0 && !r->filled[low];
    return found ? low : r->token_count;
}

/* Copies the vector in the first token's row to every token with this text. */
static void vectors_keep(vectors_reader *r, size_t first)
{
    const rapt_real *row = r->table + (size_t)r->tokens[first].id * r->d;
    for (size_t i = first; i < r->token_count && vectors_compare(&r->tokens[i], &r->tokens[first]) == 0; i++) {
        memmove(r->table + (size_t)r->tokens[i].id * r->d, row, r->d * sizeof *row);
        r->filled[i] = true;
        r->result.found++;
    }
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

static bool vectors_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A line without its end and without the blanks before it, which some programs write. */
typedef struct vectors_line {
    const char *at, *end;
} vectors_line;

static vectors_line vectors_next_line(vectors_reader *r)
{
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    vectors_line line = {r->at, newline ? newline : r->end};
    r->at = newline ? newline + 1 : r->end;
    r->record++;
    while (line.end > line.at && (vectors_is_blank(line.end[-1]) || line.end[-1] == '\r'))
        line.end--;
    return line;
}

/* Where the last `count` fields of a line begin; NULL: it has fewer fields. */
static const char *vectors_last_fields(vectors_line line, size_t count)
{
    const char *at = line.end;
    for (size_t i = 0; i < count; i++) {
        while (at > line.at && vectors_is_blank(at[-1]))
            at--;
        const char *end = at;
        while (at > line.at && !vectors_is_blank(at[-1]))
            at--;
        if (at == end)
            return NULL;
    }
    return at;
}

static size_t vectors_count_fields(vectors_line line)
{
    size_t count = 0;
    for (const char *p = line.at; p < line.end; p++)
        count += !vectors_is_blank(*p) && (p == line.at || vectors_is_blank(p[-1]));
    return count;
}

/* The number at *at, which moves past it; NaN: none. */
static double vectors_number(const char **at, const char *end)
{
    char text[NUMBER_MAX], *stop;
    size_t size = 0;
    while (*at < end && vectors_is_blank(**at))
        ++*at;
    while (*at < end && !vectors_is_blank(**at) && size + 1 < sizeof text)
        text[size++] = *(*at)++;
    text[size] = '\0';
    double value = number_read(text, &stop);
    return size > 0 && stop == text + size && (*at == end || vectors_is_blank(**at)) ? value : NAN;
}

static rapt_code vectors_take_line(vectors_reader *r, vectors_line line, rapt_error *err)
{
    const char *numbers = vectors_last_fields(line, r->d), *word_end = numbers;
    while (word_end && word_end > line.at && vectors_is_blank(word_end[-1]))
        word_end--;
    if (!numbers || word_end == line.at)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: %zu fields; a word and %zu numbers are expected", r->path, r->record,
                         vectors_count_fields(line), r->d);
    const size_t token = vectors_find(r, line.at, (size_t)(word_end - line.at));
    r->result.words++;
    if (token == r->token_count)
        return RAPT_OK;
    rapt_real *row = r->table + (size_t)r->tokens[token].id * r->d;
    for (size_t j = 0; j < r->d; j++) {
        row[j] = (rapt_real)vectors_number(&numbers, line.end);
        if (!isfinite(row[j]))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s:%zu: number %zu is none, or not finite", r->path, r->record, j + 1);
    }
    vectors_keep(r, token);
    return RAPT_OK;
}

static rapt_code vectors_take_text(vectors_reader *r, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    while (r->at < r->end && !code) {
        const vectors_line line = vectors_next_line(r);
        if (line.at < line.end || r->at < r->end) /* the last line may be empty */
            code = vectors_take_line(r, line, err);
    }
    return code;
}

/* ---- binary ----------------------------------------------------------------------------------------------------- */

/* Takes a word of word2vec's format: the word, a space, and d floats of little-endian bytes; there may be a line break between
 * words. */
static rapt_code vectors_take_word(vectors_reader *r, rapt_error *err)
{
    r->record++;
    while (r->at < r->end && *r->at == '\n')
        r->at++;
    const size_t rest = (size_t)(r->end - r->at), most = rest < WORD_MAX ? rest : WORD_MAX;
    const char *word = r->at, *space = memchr(word, ' ', most);
    if (!space || (size_t)(r->end - space - 1) / sizeof(float) < r->d)
        return rapt_fail(err, RAPT_ERR_FORMAT, "%s: word %zu of %zu: the file ends within it, or is none of word2vec", r->path,
                         r->record, r->promised);
    const size_t token = vectors_find(r, word, (size_t)(space - word));
    r->at = space + 1 + r->d * sizeof(float);
    r->result.words++;
    if (token == r->token_count)
        return RAPT_OK;
    rapt_real *row = r->table + (size_t)r->tokens[token].id * r->d;
    for (size_t j = 0; j < r->d; j++) {
        float value;
        memcpy(&value, space + 1 + j * sizeof value, sizeof value);
        row[j] = value;
        if (!isfinite(row[j]))
            return rapt_fail(err, RAPT_ERR_FORMAT, "%s: word %zu: number %zu is not finite", r->path, r->record, j + 1);
    }
    vectors_keep(r, token);
    return RAPT_OK;
}

static rapt_code vectors_take_binary(vectors_reader *r, rapt_error *err)
{
    rapt_code code = RAPT_OK;
    r->record = 0;
    while (r->record < r->promised && !code)
        code = vectors_take_word(r, err);
    while (r->at < r->end && *r->at == '\n')
        r->at++;
    return code;
}

/* ---- which of them ---------------------------------------------------------------------------------------------- */

/* A whole number of at most 18 digits. */
static bool vectors_count(const char **at, const char *end, size_t *count)
{
    const char *from = *at;
    for (*count = 0; *at < end && **at >= '0' && **at <= '9' && *at - from < 18; ++*at)
        *count = *count * 10 + (size_t)(**at - '0');
    return *at > from && (*at == end || vectors_is_blank(**at));
}

/* The header of word2vec and fastText, "words numbers", alone in the first line. */
static bool vectors_take_header(vectors_reader *r)
{
    vectors_reader ahead = *r;
    const vectors_line line = vectors_next_line(&ahead);
    const char *at = line.at;
    size_t words, numbers;
    if (vectors_count_fields(line) != 2 || !vectors_count(&at, line.end, &words))
        return false;
    while (at < line.end && vectors_is_blank(*at))
        at++;
    if (!vectors_count(&at, line.end, &numbers) || at != line.end || words == 0)
        return false;
    ahead.promised = words;
    ahead.d = numbers;
    *r = ahead;
    return true;
}

/* Whether numbers after the header are binary: as text, d numbers would take at least two printable characters each. */
static bool vectors_is_binary(const vectors_reader *r)
{
    const char *space = memchr(r->at, ' ', (size_t)(r->end - r->at));
    const size_t rest = space ? (size_t)(r->end - space - 1) : 0;
    for (size_t i = 0; i < rest && i / 2 < r->d; i++) {
        const unsigned char c = (unsigned char)space[1 + i];
        if (c > '~' || (c < ' ' && c != '\t' && c != '\r' && c != '\n'))
            return true;
    }
    return false;
}

static rapt_code vectors_take_file(vectors_reader *r, size_t d, rapt_error *err)
{
    vectors_reader ahead = *r;
    const bool header = vectors_take_header(r);
    const vectors_line first = vectors_next_line(&ahead);
    const size_t fields = vectors_count_fields(first), numbers = header ? r->d : fields ? fields - 1 : 0;
    r->d = d;
    if (numbers != d)
        return rapt_fail(err, RAPT_ERR_VALUE, "%s: its vectors have %zu number%s, the embedding has %zu", r->path, numbers,
                         numbers == 1 ? "" : "s", d);
    rapt_code code = header && vectors_is_binary(r) ? vectors_take_binary(r, err) : vectors_take_text(r, err);
    if (!code && header && (r->result.words != r->promised || r->at < r->end))
        code = rapt_fail(err, RAPT_ERR_FORMAT, "%s: %s than the %zu words of its first line", r->path,
                         r->result.words < r->promised ? "fewer" : "more", r->promised);
    return code;
}

rapt_code rapt_vectors_read(const char *path, const rapt_tokenizer *tokenizer, size_t entries, size_t d, rapt_real *table,
                            rapt_vectors_result *result, rapt_error *err)
{
    const size_t size = rapt_tokenizer_size(tokenizer);
    vectors_reader r = {.path = path, .table = table};
    file_map map;
    rapt_code code = text_in_map(&map, path, path, err);
    if (code)
        return code;
    r.at = map.data;
    r.end = map.size > 0 ? map.data + map.size : map.data; /* data is NULL for an empty file, and nothing may be added to NULL */
    code = map.size > 0 ? vectors_list_tokens(&r, tokenizer, entries < size ? entries : size, err)
                        : rapt_fail(err, RAPT_ERR_FORMAT, "%s: the file is empty", path);
    if (!code)
        code = vectors_take_file(&r, d, err);
    if (!code && r.result.found == 0)
        code = rapt_fail(err, RAPT_ERR_VALUE, "%s: none of its %zu words is a token of the vocabulary", path, r.result.words);
    if (!code && result)
        *result = r.result;
    free(r.tokens);
    free(r.filled);
    file_map_close(&map);
    return code;
}

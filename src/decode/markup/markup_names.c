/* decode/markup/markup_names.c: elements of HTML, as the standard has them: void elements and raw text (section 13.1.2), optional
 * end tags (13.1.2.4). Which ones split sentences is what browsers show in lines or boxes of their own (section 15.3). */
#include "decode/markup/markup_names.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_NAME = 16 };
enum {
    BLOCK = NAME_SPLITS | NAME_ENDS_P,
    VOID_BLOCK = NAME_VOID | NAME_SPLITS,
    CODE = NAME_VERBATIM,
    HIDDEN = NAME_VERBATIM | NAME_HIDDEN,
    HIDDEN_RAW = HIDDEN | NAME_RAW
};

static const struct {
    char name[LONGEST_NAME];
    unsigned bits;
} NAMES[] = {
    {"address", BLOCK}, {"area", NAME_VOID}, {"article", BLOCK}, {"aside", BLOCK}, {"base", VOID_BLOCK}, {"blockquote", BLOCK},
    {"body", NAME_SPLITS}, {"br", VOID_BLOCK}, {"button", NAME_SPLITS}, {"caption", NAME_SPLITS}, {"center", BLOCK},
    {"code", CODE}, {"col", VOID_BLOCK}, {"colgroup", NAME_SPLITS}, {"datalist", NAME_SPLITS}, {"dd", BLOCK},
    {"details", BLOCK}, {"dialog", BLOCK}, {"dir", BLOCK}, {"div", BLOCK}, {"dl", BLOCK}, {"dt", BLOCK}, {"embed", NAME_VOID},
    {"fieldset", BLOCK}, {"figcaption", BLOCK}, {"figure", BLOCK}, {"footer", BLOCK}, {"form", BLOCK}, {"frame", VOID_BLOCK},
    {"frameset", NAME_SPLITS}, {"h1", BLOCK}, {"h2", BLOCK}, {"h3", BLOCK}, {"h4", BLOCK}, {"h5", BLOCK}, {"h6", BLOCK},
    {"head", NAME_SPLITS}, {"header", BLOCK}, {"hgroup", BLOCK}, {"hr", VOID_BLOCK | NAME_ENDS_P}, {"html", NAME_SPLITS},
    {"iframe", HIDDEN_RAW}, {"img", NAME_VOID}, {"input", NAME_VOID}, {"kbd", CODE}, {"legend", NAME_SPLITS}, {"li", BLOCK},
    {"link", VOID_BLOCK}, {"listing", BLOCK | NAME_VERBATIM}, {"main", BLOCK}, {"math", HIDDEN}, {"menu", BLOCK},
    {"meta", VOID_BLOCK}, {"nav", BLOCK}, {"noembed", HIDDEN_RAW}, {"noframes", HIDDEN_RAW | NAME_SPLITS}, {"ol", BLOCK},
    {"optgroup", NAME_SPLITS}, {"option", NAME_SPLITS}, {"p", BLOCK}, {"param", VOID_BLOCK},
    {"plaintext", BLOCK | HIDDEN | NAME_REST}, {"pre", BLOCK | NAME_VERBATIM}, {"samp", CODE}, {"script", HIDDEN_RAW},
    {"search", BLOCK}, {"section", BLOCK}, {"select", NAME_SPLITS}, {"source", VOID_BLOCK}, {"style", HIDDEN_RAW},
    {"summary", BLOCK}, {"svg", HIDDEN}, {"table", BLOCK}, {"tbody", NAME_SPLITS}, {"td", NAME_SPLITS},
    {"template", NAME_SPLITS}, {"textarea", NAME_SPLITS | NAME_VERBATIM | NAME_RCDATA}, {"tfoot", NAME_SPLITS},
    {"th", NAME_SPLITS}, {"thead", NAME_SPLITS}, {"title", NAME_SPLITS | NAME_RCDATA}, {"tr", NAME_SPLITS},
    {"track", VOID_BLOCK}, {"ul", BLOCK}, {"var", CODE}, {"wbr", NAME_VOID}, {"xmp", BLOCK | HIDDEN_RAW},
};

unsigned markup_name_bits(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES && size < LONGEST_NAME; i++)
        if (memcmp(NAMES[i].name, name, size) == 0 && !NAMES[i].name[size])
            return NAMES[i].bits;
    return 0;
}

bool markup_name_ends(const char *open, const char *next, unsigned next_bits)
{
    static const char *const ends[][2] = {
        {"li", " li "}, {"dt", " dt dd "}, {"dd", " dt dd "}, {"option", " option optgroup "}, {"optgroup", " optgroup "},
        {"td", " td th tr tbody thead tfoot "}, {"th", " td th tr tbody thead tfoot "}, {"tr", " tr tbody thead tfoot "},
        {"tbody", " tbody thead tfoot "}, {"thead", " tbody thead tfoot "}, {"tfoot", " tbody thead tfoot "}, {"head", " body "}};
    char word[LONGEST_NAME + 2];
    if (strcmp(open, "p") == 0)
        return next_bits & NAME_ENDS_P;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && strlen(next) < LONGEST_NAME; i++)
        if (strcmp(open, ends[i][0]) == 0)
            return snprintf(word, sizeof word, " %s ", next) > 0 && strstr(ends[i][1], word) != NULL;
    return false;
}

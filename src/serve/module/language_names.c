/* serve/module/language_names.c: the list of languages. */
#include "serve/module/language_names.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

typedef struct language {
    char two[3], three[4];
    const char *name;
} language;

static const language LANGUAGES[] = {
    {"af", "afr", "Afrikaans"}, {"am", "amh", "Amharic"}, {"ar", "ara", "Arabic"}, {"az", "aze", "Azerbaijani"},
    {"be", "bel", "Belarusian"}, {"bg", "bul", "Bulgarian"}, {"bn", "ben", "Bengali"}, {"bs", "bos", "Bosnian"},
    {"ca", "cat", "Catalan"}, {"cs", "ces", "Czech"}, {"cy", "cym", "Welsh"}, {"da", "dan", "Danish"}, {"de", "deu", "German"},
    {"el", "ell", "Greek"}, {"en", "eng", "English"}, {"eo", "epo", "Esperanto"}, {"es", "spa", "Spanish"},
    {"et", "est", "Estonian"}, {"eu", "eus", "Basque"}, {"fa", "fas", "Persian"}, {"fi", "fin", "Finnish"},
    {"fr", "fra", "French"}, {"ga", "gle", "Irish"}, {"gl", "glg", "Galician"}, {"gu", "guj", "Gujarati"},
    {"ha", "hau", "Hausa"}, {"he", "heb", "Hebrew"}, {"hi", "hin", "Hindi"}, {"hr", "hrv", "Croatian"},
    {"hu", "hun", "Hungarian"}, {"hy", "hye", "Armenian"}, {"id", "ind", "Indonesian"}, {"ig", "ibo", "Igbo"},
    {"is", "isl", "Icelandic"}, {"it", "ita", "Italian"}, {"ja", "jpn", "Japanese"}, {"ka", "kat", "Georgian"},
    {"kk", "kaz", "Kazakh"}, {"km", "khm", "Khmer"}, {"kn", "kan", "Kannada"}, {"ko", "kor", "Korean"},
    {"ky", "kir", "Kyrgyz"}, {"la", "lat", "Latin"}, {"lb", "ltz", "Luxembourgish"}, {"lo", "lao", "Lao"},
    {"lt", "lit", "Lithuanian"}, {"lv", "lav", "Latvian"}, {"mg", "mlg", "Malagasy"}, {"mk", "mkd", "Macedonian"},
    {"ml", "mal", "Malayalam"}, {"mn", "mon", "Mongolian"}, {"mr", "mar", "Marathi"}, {"ms", "msa", "Malay"},
    {"mt", "mlt", "Maltese"}, {"my", "mya", "Burmese"}, {"nb", "nob", "Norwegian Bokmål"}, {"ne", "nep", "Nepali"},
    {"nl", "nld", "Dutch"}, {"nn", "nno", "Norwegian Nynorsk"}, {"no", "nor", "Norwegian"}, {"pa", "pan", "Punjabi"},
    {"pl", "pol", "Polish"}, {"ps", "pus", "Pashto"}, {"pt", "por", "Portuguese"}, {"ro", "ron", "Romanian"},
    {"ru", "rus", "Russian"}, {"si", "sin", "Sinhala"}, {"sk", "slk", "Slovak"}, {"sl", "slv", "Slovenian"},
    {"so", "som", "Somali"}, {"sq", "sqi", "Albanian"}, {"sr", "srp", "Serbian"}, {"st", "sot", "Southern Sotho"},
    {"sv", "swe", "Swedish"}, {"sw", "swa", "Swahili"}, {"ta", "tam", "Tamil"}, {"te", "tel", "Telugu"},
    {"tg", "tgk", "Tajik"}, {"th", "tha", "Thai"}, {"tl", "tgl", "Tagalog"}, {"tr", "tur", "Turkish"},
    {"uk", "ukr", "Ukrainian"}, {"ur", "urd", "Urdu"}, {"uz", "uzb", "Uzbek"}, {"vi", "vie", "Vietnamese"},
    {"xh", "xho", "Xhosa"}, {"yi", "yid", "Yiddish"}, {"yo", "yor", "Yoruba"}, {"zh", "zho", "Chinese"}, {"zu", "zul", "Zulu"},
};

const char *language_name(const char *code)
{
    size_t size = strcspn(code, "-_");
    for (size_t i = 0; i < sizeof LANGUAGES / sizeof *LANGUAGES; i++) {
        const char *known = size == 2 ? LANGUAGES[i].two : LANGUAGES[i].three;
        if (strlen(known) == size && strncasecmp(known, code, size) == 0)
            return LANGUAGES[i].name;
    }
    return code;
}

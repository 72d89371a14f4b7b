/* fetch/sets.c: the list of files, their URLs and their sums. The sums belong to the published files. URLs of GitHub name a
 * commit, except Multi30k's, which name a branch: if a file changes there, its sum no longer matches and it is refused. */
#include "fetch/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GITHUB "https://raw.githubusercontent.com/"
#define MULTI30K GITHUB "multi30k/dataset/master/data/task1/"
#define OPENAI "https://openaipublic.blob.core.windows.net/encodings/"

#define RAW(text, bytes, sum) {text, MULTI30K "raw/" text ".gz", bytes, sum}
#define TOK(text, language, bytes, sum) \
    {"tok/" text ".lc.norm.tok." language, MULTI30K "tok/" text ".lc.norm.tok." language, bytes, sum}
static const fetch_file MULTI30K_FILES[] = {
    RAW("train.en", 1801238, "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6"),
    RAW("train.de", 2110398, "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72"),
    RAW("train.fr", 2111303, "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d"),
    RAW("val.en", 63297, "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227"),
    RAW("val.de", 75981, "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660"),
    RAW("val.fr", 73924, "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc"),
    RAW("test_2016_flickr.en", 62076, "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182"),
    RAW("test_2016_flickr.de", 70649, "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16"),
    RAW("test_2016_flickr.fr", 72261, "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6"),
    TOK("train", "en", 1837696, "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119"),
    TOK("train", "de", 2150008, "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505"),
    TOK("train", "fr", 2235588, "8fa41bb718412bcb7c5dfa58603842810a01543eae86a51279f9886b901266e1"),
    TOK("val", "en", 64608, "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec"),
    TOK("val", "de", 77273, "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00"),
    TOK("val", "fr", 78242, "b303e301aa21fe7822a846b2b3fb2d5a1121ec807cd5b1d006fb7b2b5507168a"),
    TOK("test_2016_flickr", "en", 63307, "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2"),
    TOK("test_2016_flickr", "de", 71917, "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4"),
    TOK("test_2016_flickr", "fr", 76394, "1463bd5960f9bfe098ec3cd752d3df0c49c84dc646fb518964a29232658cd836")};
#undef RAW
#undef TOK

static const fetch_file TINY_SHAKESPEARE[] = {
    {"input.txt", GITHUB "karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/tinyshakespeare/input.txt",
     1115394, "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"}};
static const fetch_file FRA_ENG[] = {
    {"fra.txt", GITHUB "modelexlab/data/adddaf33ac35572bcfeb421efec29435e7ea9332/fra-eng.zip",
     11669748, "0bb85dbaa1c896844649094d7eaf2e34bee34e84fe362b26ce7e8f2e12aae104"}};
static const fetch_file SALES_TEXTBOOK[] = {
    {"sales_textbook.txt",
     GITHUB "waylandzhang/Transformer-from-scratch/3ad3c7a161e508885f298fa0acee6beccfefc81b/sales_textbook.txt",
     460319, "1994f20f5becd3f0b3d7a632e5a68513cc38cf6c9737a9f38243f1b652e962da"}};
static const fetch_file CL100K_BASE[] = {
    {"cl100k_base.tiktoken", OPENAI "cl100k_base.tiktoken",
     1681126, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"}};
static const fetch_file O200K_BASE[] = {
    {"o200k_base.tiktoken", OPENAI "o200k_base.tiktoken",
     3613922, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"}};
static const fetch_file R50K_BASE[] = {
    {"r50k_base.tiktoken", OPENAI "r50k_base.tiktoken",
     835554, "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"}};

#define FILES(list) list, sizeof list / sizeof *list
const fetch_set FETCH_SETS[FETCH_SET_COUNT] = {
    {"multi30k", "captions of pictures, English, German and French, as they are and (tok/) lower-cased and cut into words; "
                 "for research, not for trade; cite Elliott et al. 2016 and 2017", FILES(MULTI30K_FILES)},
    {"tiny-shakespeare", "40,000 lines of Shakespeare's plays; free", FILES(TINY_SHAKESPEARE)},
    {"fra-eng", "167,130 English-French pairs of Tatoeba, 2019; CC BY 2.0, name www.manythings.org/anki and tatoeba.org",
     FILES(FRA_ENG)},
    {"sales-textbook", "a textbook on selling, written by a machine; no terms are stated", FILES(SALES_TEXTBOOK)},
    {"cl100k_base", "the byte pairs of GPT-4; MIT", FILES(CL100K_BASE)},
    {"o200k_base", "the byte pairs of GPT-4o; MIT", FILES(O200K_BASE)},
    {"r50k_base", "the byte pairs of GPT-2 and GPT-3; MIT", FILES(R50K_BASE)}};

char *fetch_url(const fetch_file *file, const char *from)
{
    const char *slash = strrchr(file->url, '/');
    size_t length = from ? strlen(from) : 0;
    while (length > 0 && from[length - 1] == '/')
        length--;
    size_t size = length + strlen(file->url) + 1;
    char *url = malloc(size);
    if (url)
        snprintf(url, size, "%.*s%s", (int)length, from ? from : "", from ? slash : file->url);
    return url;
}

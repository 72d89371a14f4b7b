/* text/capitalise.h: capitals where sentences begin, for translations by models that know small letters only. */
#ifndef TEXT_CAPITALISE_H
#define TEXT_CAPITALISE_H

/* `text` with a capital for the first letter of each sentence, as sentences.h finds them: in words with spaces between, of
 * all; in a text as people write it, of the first and of those that don't begin with a small letter. Valid UTF-8; the caller
 * frees the result; NULL: no memory. */
char *capitalise(const char *text);

#endif

/* text/prose/capitalize.h: capitals at the beginning of sentences, for translations by models that were trained on lower case
 * only. */
#ifndef TEXT_PROSE_CAPITALIZE_H
#define TEXT_PROSE_CAPITALIZE_H

/* `text`, which is lower case, with a capital for the first letter of each sentence; sentences.h finds them. Valid UTF-8; the
 * caller frees the result; NULL: out of memory. */
char *capitalize(const char *text);

#endif

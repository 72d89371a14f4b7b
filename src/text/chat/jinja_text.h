/* text/chat/jinja_text.h: methods of Python's str, by code points. Texts are valid UTF-8. */
#ifndef TEXT_CHAT_JINJA_TEXT_H
#define TEXT_CHAT_JINJA_TEXT_H

#include "text/chat/jinja_value.h"

typedef enum jinja_case { JINJA_UPPER, JINJA_LOWER, JINJA_TITLE, JINJA_CAPITALIZE } jinja_case;

/* Code points of a text. */
size_t jinja_text_length(jinja_value text);
/* s[at]; undefined outside of the text. */
jinja_value jinja_text_at(jinja_value text, int64_t at);
/* Strips white space, or if `set` is a text, its characters, on the left, the right or both sides. */
jinja_value jinja_text_strip(jinja_value text, jinja_value set, bool left, bool right);
/* Fails at letters whose form in the other case has another number of letters. */
jinja_value jinja_text_case(jinja_work *w, jinja_value text, jinja_case to);
/* `most` below 0: all. */
jinja_value jinja_text_replace(jinja_work *w, jinja_value text, jinja_value from, jinja_value to, int64_t most);
/* Splits at `mark`, or if that is not a text, at runs of white space; at most `most` times, below 0: without limit. From the
 * right, the last places are taken. */
jinja_value jinja_text_split(jinja_work *w, jinja_value text, jinja_value mark, int64_t most, bool from_right);
jinja_value jinja_text_lines(jinja_work *w, jinja_value text);
/* The byte where `part` first or last occurs; SIZE_MAX: nowhere. */
size_t jinja_text_find(jinja_value text, jinja_value part, bool last);
bool jinja_text_starts(jinja_value text, jinja_value part);
bool jinja_text_ends(jinja_value text, jinja_value part);
jinja_value jinja_text_join(jinja_work *w, jinja_value mark, const jinja_list *texts);

#endif

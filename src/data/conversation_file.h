/* data/conversation_file.h: a file of JSON lines in memory. For data sets of conversations and preferences, and `rapt data
 * check`. */
#ifndef DATA_CONVERSATION_FILE_H
#define DATA_CONVERSATION_FILE_H

#include "data/conversation.h"
#include "text/lines.h"

/* A file of JSON lines, maybe expanded from gzip. Lines of white space are skipped. */
typedef struct conversation_file {
    struct lines lines;
    char *path;
} conversation_file;

/* NULL with `err` set: a file that cannot be read, is not UTF-8, or has only blank lines. */
conversation_file *conversation_file_open(const char *path, rapt_error *err);
void conversation_file_close(conversation_file *f); /* NULL is fine */

/* Calls `each` with the text of every line that is not blank in order, until it fails. It may change the text. */
typedef rapt_code conversation_line_fn(void *context, size_t line, char *text, size_t size, rapt_error *err);
rapt_code conversation_file_lines(const conversation_file *f, conversation_line_fn *each, void *context, rapt_error *err);

/* Whether the first line that is not blank has the keys of a preference (preference_is). */
bool conversation_file_has_preferences(const conversation_file *f);

#endif

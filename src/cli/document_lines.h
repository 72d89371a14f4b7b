/* cli/document_lines.h: the texts of a document with the numbers of its lines, for messages. For cmd_translate.c. */
#ifndef CLI_DOCUMENT_LINES_H
#define CLI_DOCUMENT_LINES_H

#include "rapt/markup.h"
#include "text/line_stream.h"

/* Blocks of one text each, as many as rapt_markup_count says; `first` is the number of the line of `document` on which the text
 * begins. The caller frees them, before the document. NULL with `err` set: out of memory. */
line_block *document_lines(const rapt_markup *m, rapt_text document, rapt_error *err);

#endif

/* decode/markup/entities.h: character references of HTML and XML, as text and back. For markup_segments.c and markup_write.c. */
#ifndef DECODE_MARKUP_ENTITIES_H
#define DECODE_MARKUP_ENTITIES_H

#include "base/buffer.h"

#include <stdint.h>

typedef struct entity {
    size_t size;      /* bytes of the reference, with & and ; */
    uint32_t code[2]; /* its characters; the second may be 0 */
} entity;

/* Reads the reference that begins text[size], which begins with &. HTML: as browsers read it outside of attributes, so that some
 * names need no semicolon, and numbers that are no character are U+FFFD. XML: &amp; &lt; &gt; &quot; &apos; and numbers of
 * characters. False: it is none, and & is text. */
bool entity_read(const char *text, size_t size, bool xml, entity *e);
/* The size of what has the form of a reference to an entity of XML, declared or not: & a name and ; 0: it has not. */
size_t entity_named(const char *text, size_t size);

/* Appends a text with & < > as references, and in HTML no-break spaces too (HTML standard, "escaping a string"). False: out of
 * memory. */
bool entities_append(buffer *to, const char *text, size_t size, bool xml);

#endif

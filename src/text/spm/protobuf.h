/* text/spm/protobuf.h: the fields of a message in protobuf's wire format (protobuf.dev, "Encoding"). For the reader of
 * SentencePiece models. Not a general protobuf: the caller knows the fields' numbers, and groups, which are obsolete, are
 * refused. */
#ifndef TEXT_SPM_PROTOBUF_H
#define TEXT_SPM_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum protobuf_type { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 } protobuf_type;

typedef struct protobuf_field {
    uint32_t number;
    protobuf_type type;
    uint64_t value;   /* of numbers */
    const char *data; /* PROTOBUF_BYTES: a text, bytes or another message, within the message */
    size_t size;
} protobuf_field;

/* A message that is read from `at` on. */
typedef struct protobuf {
    const char *at, *end;
} protobuf;

/* Takes the next field. False at the end of the message, where at == end, and before bytes that are not a field: a truncated
 * number or length, a length beyond the end, an unknown type. */
bool protobuf_next(protobuf *p, protobuf_field *field);

#endif

/* text/spm/protobuf.c: protobuf's wire format, field by field. A field is a varint with number and type, and a value; varints
 * have seven bits a byte, the lowest first, and the top bit says that another byte follows. */
#include "text/spm/protobuf.h"

enum { MAX_VARINT = 10, TYPE_BITS = 3, MAX_NUMBER = (1 << 29) - 1 };

/* Takes the varint at *at; false if it is truncated or too long. */
static bool take_varint(const char **at, const char *end, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < MAX_VARINT && *at < end; i++) {
        const unsigned char byte = (unsigned char)*(*at)++;
        *value |= (uint64_t)(byte & 0x7F) << 7 * i;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* A number of `size` bytes, the lowest first. */
static bool take_fixed(const char **at, const char *end, int size, uint64_t *value)
{
    *value = 0;
    if (end - *at < size)
        return false;
    for (int i = 0; i < size; i++)
        *value |= (uint64_t)(unsigned char)*(*at)++ << 8 * i;
    return true;
}

static bool take_bytes(const char **at, const char *end, protobuf_field *field)
{
    uint64_t size;
    if (!take_varint(at, end, &size) || size > (uint64_t)(end - *at))
        return false;
    field->data = *at;
    field->size = (size_t)size;
    *at += size;
    return true;
}

static bool take_value(const char **at, const char *end, protobuf_field *field)
{
    switch (field->type) {
    case PROTOBUF_VARINT: return take_varint(at, end, &field->value);
    case PROTOBUF_FIXED64: return take_fixed(at, end, 8, &field->value);
    case PROTOBUF_BYTES: return take_bytes(at, end, field);
    case PROTOBUF_FIXED32: return take_fixed(at, end, 4, &field->value);
    }
    return false;
}

bool protobuf_next(protobuf *p, protobuf_field *field)
{
    const char *at = p->at;
    uint64_t tag;
    *field = (protobuf_field){0};
    if (at == p->end || !take_varint(&at, p->end, &tag) || tag >> TYPE_BITS == 0 || tag >> TYPE_BITS > MAX_NUMBER)
        return false;
    field->number = (uint32_t)(tag >> TYPE_BITS);
    field->type = (protobuf_type)(tag & 7);
    if (!take_value(&at, p->end, field))
        return false;
    p->at = at;
    return true;
}

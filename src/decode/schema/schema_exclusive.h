/* decode/schema/schema_exclusive.h: whether values exclude each other, for "oneOf". For schema_build.c. */
#ifndef DECODE_SCHEMA_SCHEMA_EXCLUSIVE_H
#define DECODE_SCHEMA_SCHEMA_EXCLUSIVE_H

#include "decode/schema/schema_shape.h"
#include "decode/schema/schema_work.h"

/* Whether clearly no value is one of both nodes, all of whose shapes are there. False if there are no steps left for it, too. */
bool schema_exclusive(schema_work *w, const schema_node *a, const schema_node *b);

#endif

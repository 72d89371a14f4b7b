/* decode/schema/schema_heights.h: how many objects and arrays within each other a value needs. For schema_build.c. */
#ifndef DECODE_SCHEMA_SCHEMA_HEIGHTS_H
#define DECODE_SCHEMA_SCHEMA_HEIGHTS_H

#include "decode/schema/schema_shape.h"
#include "decode/schema/schema_work.h"

/* Sets the heights of all nodes and shapes, which are SCHEMA_NEVER at first. RAPT_ERR_VALUE: no steps are left. */
rapt_code schema_heights(json_schema *s, schema_work *w, rapt_error *err);

#endif

/* ops/axis.h: a tensor as [outer, count, inner] around one of its dimensions. For operations along an axis. */
#ifndef OPS_AXIS_H
#define OPS_AXIS_H

#include "tape/tape_core.h"

typedef struct axis_parts {
    size_t outer, count, inner; /* products of the dimensions before the axis, of it, and after it */
} axis_parts;

/* Finds the dimension that `axis` means; negative numbers count from the end. False: x has none such. */
bool axis_find(const rapt_tensor *x, int axis, int *found);
axis_parts axis_split(const rapt_tensor *x, int axis);

#endif

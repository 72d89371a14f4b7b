/* io/model_maps.h: the files that a loaded model reads while it is used. For programs that must not end when somebody truncates
 * one. */
#ifndef IO_MODEL_MAPS_H
#define IO_MODEL_MAPS_H

#include "base/file.h"
#include "io/model.h"

/* Calls each(context, path, map) for each file that is mapped until rapt_model_free; `path` may be a name without its folder. */
void model_maps(const rapt_model *m, void (*each)(void *context, const char *path, const file_map *map), void *context);

#endif

/* text/pipeline/component.h: shared by the readers of a tokenizer.json's components. */
#ifndef TEXT_PIPELINE_COMPONENT_H
#define TEXT_PIPELINE_COMPONENT_H

#include "text/hf/hf_read.h"

enum { COMPONENT_DEPTH = 8 }; /* depth of sequences in sequences */

/* Refuses a member of `part` that is not in `known` (names with a space between them), unless its value is null, false, 0 or "":
 * it might change ids. `what` names the part in messages. */
rapt_code component_check_keys(const hf_reading *r, const char *what, const json_t *part, const char *known);
/* Copies a member that is a text without a NUL; RAPT_ERR_FORMAT if it is not. */
rapt_code component_text(const hf_reading *r, const char *what, const json_t *part, const char *key, char **out);
/* A member that is a text of one character. */
rapt_code component_character(const hf_reading *r, const char *what, const json_t *part, const char *key, char out[5]);
/* A member that is true or false, or `missing`. */
rapt_code component_bool(const hf_reading *r, const char *what, const json_t *part, const char *key, bool missing, bool *out);
rapt_code component_no_memory(const hf_reading *r);

/* A kind of components: how one with this "type" is read into `out`. */
typedef struct component_type {
    const char *type, *keys; /* its members besides "type" */
    rapt_code (*read)(const hf_reading *r, const json_t *part, void *out);
} component_type;

/* Reads a component, or a Sequence of them, whose list is the member `list`; null means no component. `what` is "normalizer" and
 * so on. */
rapt_code component_read(const hf_reading *r, const char *what, const char *list, const json_t *part, const component_type *types,
                         size_t count, void *out);

#endif

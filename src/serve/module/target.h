/* serve/module/target.h: the target of a request line, taken apart: "/v1/models?a=b%20c". For http_exchange.c. */
#ifndef SERVE_MODULE_TARGET_H
#define SERVE_MODULE_TARGET_H

#include "serve/module/field_list.h"

/* Decodes path and query. A target in absolute form ("http://host/path"), which proxies may send, counts as its path; "*" is also
 * a path. False, with nothing to free: out of memory, another form of target, a wrong escape, or %00. */
bool target_read(const char *target, char **path, field_list *query);

#endif

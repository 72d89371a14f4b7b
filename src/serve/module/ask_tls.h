/* serve/module/ask_tls.h: one request over TLS. For serve_check.c. */
#ifndef SERVE_MODULE_ASK_TLS_H
#define SERVE_MODULE_ASK_TLS_H

#include "rapt/base.h"

/* Sends `request` over TLS on a connection, and reads the beginning of the answer as text. RAPT_ERR_IO: no TLS;
 * RAPT_ERR_NOT_FOUND: this build has none. */
rapt_code serve_ask_tls(int fd, const char *request, char *answer, size_t size, rapt_error *err);

#endif

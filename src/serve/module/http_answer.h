/* serve/module/http_answer.h: makes a response of libmicrohttpd from an exchange's response. For http.c. */
#ifndef SERVE_MODULE_HTTP_ANSWER_H
#define SERVE_MODULE_HTTP_ANSWER_H

#include "serve/module/http_request.h"

/* Gives libmicrohttpd the response of r->x, which has begun. For its handler only. MHD_NO: close the connection. */
enum MHD_Result http_answer(http_request *r);

#endif

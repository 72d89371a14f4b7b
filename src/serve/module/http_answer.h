/* serve/module/http_answer.h: an exchange's response as one of libmicrohttpd. For http.c. */
#ifndef SERVE_MODULE_HTTP_ANSWER_H
#define SERVE_MODULE_HTTP_ANSWER_H

#include "serve/module/http_request.h"

/* Gives libmicrohttpd the response of r->x, which has begun. From its handler. MHD_NO: the connection is to be closed. */
enum MHD_Result http_answer(http_request *r);

#endif

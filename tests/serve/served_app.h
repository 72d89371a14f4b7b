/* tests/serve/served_app.h: an `app` without router and sockets, for tests of the functions that answer requests: models that a
 * test makes, in an engine, under the names that it gives them. */
#ifndef TESTS_SERVE_SERVED_APP_H
#define TESTS_SERVE_SERVED_APP_H

#include "serve/module/app.h"

/* Limits that tests change as they like. NULL: out of memory. */
app *served_app_new(void);
void served_app_free(app *a);
app_limits *served_app_limits(app *a);
void served_app_drain(app *a);
/* Takes the page of the lesson over; NULL: there is none. */
void served_app_lesson(app *a, struct learn_page *p);
/* Adds a model, which it takes over, before the first request. Languages may be NULL. False: `err` says why. */
bool served_app_add(app *a, const char *name, const char *source, const char *target, rapt_model *m, rapt_error *err);

#endif

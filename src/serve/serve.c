/* serve/serve.c: serve.h for the program. libmicrohttpd brings TLS along: it is linked to the module rapt_serve.so
 * (src/serve/module), with all that a server is, and `rapt serve` loads it. No server here. */
#include "serve/serve.h"

#include "base/module.h"

rapt_code serve_run(const serve_options *options, const serve_reader *again, rapt_error *err)
{
    rapt_code (*run)(const serve_options *, const serve_reader *, rapt_error *);
    *(void **)&run = module_function("rapt_serve.so", "serve_run",
                                     "this rapt cannot serve: its module, built where libmicrohttpd is, is missing", err);
    return run ? run(options, again, err) : RAPT_ERR_NOT_FOUND;
}

rapt_code serve_ask_tls(int fd, const char *request, char *answer, size_t size, rapt_error *err)
{
    rapt_code (*ask)(int, const char *, char *, size_t, rapt_error *);
    *(void **)&ask = module_function("rapt_serve.so", "serve_ask_tls", "this rapt has no TLS: its module is missing", err);
    return ask ? ask(fd, request, answer, size, err) : RAPT_ERR_NOT_FOUND;
}

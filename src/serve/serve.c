/* serve/serve.c: serve.h for the program. libmicrohttpd brings TLS along: it is linked to the module rapt_serve.so
 * (src/serve/module), with all that a server is, and `rapt serve` loads it. No server here. */
#include "serve/serve.h"

#include "base/module.h"

#define MODULE "rapt_serve.so"
#define LACK "this rapt cannot serve: its module, built where libmicrohttpd is, is missing"

rapt_code serve_run(const serve_options *options, const serve_reader *again, rapt_error *err)
{
    rapt_code (*run)(const serve_options *, const serve_reader *, rapt_error *);
    *(void **)&run = module_function(MODULE, "serve_run", LACK, err);
    return run ? run(options, again, err) : RAPT_ERR_NOT_FOUND;
}

rapt_code serve_check(const serve_options *options, rapt_error *err)
{
    rapt_code (*check)(const serve_options *, rapt_error *);
    *(void **)&check = module_function(MODULE, "serve_check", LACK, err);
    return check ? check(options, err) : RAPT_ERR_NOT_FOUND;
}

const char *serve_http_version(void)
{
    return NULL;
}

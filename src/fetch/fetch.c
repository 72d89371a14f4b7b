/* fetch/fetch.c: loads the module that downloads. libcurl brings thirty libraries: they are linked to the module rapt_fetch.so
 * (src/fetch/module), which the first download loads. */
#include "fetch/fetch.h"

#include "base/module.h"

rapt_code fetch_get(const fetch_request *request, fetch_outcome *outcome, rapt_error *err)
{
    rapt_code (*get)(const fetch_request *, fetch_outcome *, rapt_error *);
    *(void **)&get = module_function("rapt_fetch.so", "fetch_get",
                                     "this rapt cannot fetch: its module, built where libcurl, libarchive and nettle are, "
                                     "is missing", err);
    return get ? get(request, outcome, err) : RAPT_ERR_NOT_FOUND;
}

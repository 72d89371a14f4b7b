/* engine/engine_here.c: whether an engine is this process's own, for all that would lock or wait. */
#include "base/process.h"
#include "engine/engine_core.h"

bool engine_is_here(const rapt_engine *e)
{
    return e->owner == process_id();
}

rapt_code engine_check_here(const rapt_engine *e, rapt_error *err)
{
    if (engine_is_here(e))
        return RAPT_OK;
    return rapt_fail(err, RAPT_ERR_VALUE,
                     "this process was forked after the engine was made, whose thread is in the parent: make an engine here");
}

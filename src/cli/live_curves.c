/* cli/live_curves.c: decides when to draw; plot_training.c draws. */
#include "cli/live_curves.h"

#include "base/chars.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/file.h"
#include "cli/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE 9.0   /* times as long as a drawing took */
#define SHORTEST 0.3 /* seconds between drawings: more of them could not be told apart */

bool live_curves_is_picture(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending && (chars_alike(ending, ".png") || chars_alike(ending, ".svg"));
}

static void live_curves_stop(live_curves *c, const char *reason)
{
    cli_say("rapt: warning: --plot: %s; nothing more is drawn\n", reason);
    c->failed = true;
}

void live_curves_begin(live_curves *c)
{
    const char *out = c->request.out;
    char *folder = out ? file_folder(out) : NULL;
    rapt_error err = {0};
    if (folder && !disk_may_write(folder)) {
        rapt_fail(&err, RAPT_ERR_IO, "cannot write %s: %s", out, strerror(errno));
        live_curves_stop(c, err.message);
    }
    free(folder);
}

static void live_curves_draw(live_curves *c)
{
    rapt_error err = {0};
    double before = clock_seconds();
    if (plot_training_picture(&c->request, &err) != RAPT_OK)
        live_curves_stop(c, err.message);
    c->drawn_at = clock_seconds();
    c->took = c->drawn_at - before;
    c->behind = false;
}

void live_curves_report(live_curves *c)
{
    if (!c->request.out || c->failed)
        return;
    double pause = c->took * PAUSE > SHORTEST ? c->took * PAUSE : SHORTEST;
    c->behind = true;
    if (c->drawn_at == 0 || clock_seconds() - c->drawn_at >= pause)
        live_curves_draw(c);
}

void live_curves_end(live_curves *c)
{
    if (c->behind && !c->failed)
        live_curves_draw(c);
}

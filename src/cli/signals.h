/* cli/signals.h: Ctrl-C and its kind, for commands that end in order. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>

/* From now on SIGINT, SIGTERM and SIGHUP ask the command to stop; SIGHUP is left alone where it was ignored, as under
 * nohup. A second Ctrl-C ends the program at once. */
void signals_catch(void);
/* Nonzero once one of them has come. */
const volatile sig_atomic_t *signals_stop(void);
/* The exit status of a command that was stopped: 128 and the signal's number, as a shell has it. */
int signals_status(void);

#endif

/* cli/signals.h: SIGINT, SIGTERM and SIGHUP, for commands that finish or save their work. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP ask the command to stop; SIGHUP is left alone where it was ignored, as under
 * nohup. A second Ctrl-C ends the program at once. */
void signals_catch(void);
/* So does SIGUSR1, which mpirun of Open MPI forwards without ending the processes a second later. For ranks. */
void signals_catch_forwarded(void);
/* For a while only SIGINT does, each time anew: for commands in which Ctrl-C stops a part of the work. signals_release gives
 * SIGINT its default action back. */
void signals_catch_turn(void);
void signals_release(void);
/* A rapt_stop_fn: whether one of them was received. */
bool signals_stop(void *context);
/* The default actions again, for a part of the work that nothing is to be saved of. */
void signals_leave(void);
/* The exit status of a command that was stopped: 128 and the signal's number, as a shell has it. */
int signals_status(void);

#endif

/* cli/signals.h: SIGINT, SIGTERM and SIGHUP, for commands that finish or save their work. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP ask the command to stop; SIGHUP stays ignored if it was, as under nohup. A second Ctrl-C
 * ends the program immediately. */
void signals_catch(void);
/* The same, and also for SIGUSR1, which Open MPI's mpirun forwards without ending the processes a second later. For ranks. */
void signals_catch_forwarded(void);
/* Catches only SIGINT, each time again, for commands in which Ctrl-C ends only a part of the work. signals_release restores the
 * default action of SIGINT. */
void signals_catch_turn(void);
void signals_release(void);
/* A rapt_stop_fn: whether one of them was received. */
bool signals_stop(void *context);
/* Restores the default actions, for a part of the work that saves nothing. */
void signals_leave(void);
/* The exit status of a command that was stopped: 128 and the signal's number, as a shell has it. */
int signals_status(void);

#endif

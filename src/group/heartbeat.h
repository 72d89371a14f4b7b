/* group/heartbeat.h: tells which ranks live. Each counts its messages, and sends a few others one now and then (`wait` / 32, at
 * most a second) with the newest count that it knows of every rank, so that news of one reach all of them in log2 P messages. A
 * rank whose process is stopped, has died or is cut off is lost for all others within 2 log2 P messages' time after `wait`; one
 * that only computes, or writes a file, is not. For the communication thread (group_thread.c), which polls it; it has no thread
 * of its own and takes the time from its caller. */
#ifndef GROUP_HEARTBEAT_H
#define GROUP_HEARTBEAT_H

#include "rapt/group.h"

#define HEARTBEAT_TAG 32767

typedef struct heartbeat heartbeat;

/* Ranks of which nothing new is heard for `wait` seconds count as lost. `now`: seconds of any clock. NULL: out of memory. */
heartbeat *heartbeat_new(const rapt_transport *transport, int rank, int size, double wait, double now, rapt_error *err);
void heartbeat_free(heartbeat *h);
/* Sends and receives what is due, without waiting. A failure of the transport, or RAPT_OK. */
rapt_code heartbeat_poll(heartbeat *h, double now, rapt_error *err);
/* The rank that has been silent for the longest time, if it is lost, and how many others are, too; else -1. */
int heartbeat_lost(const heartbeat *h, double now, int *others);
/* Ends it, when all ranks do: to be polled until it is true; no message is under way then. */
void heartbeat_leave(heartbeat *h);
bool heartbeat_left(const heartbeat *h);
/* Seconds until heartbeat_poll has something to do. */
double heartbeat_pause(const heartbeat *h);

#endif

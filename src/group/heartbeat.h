/* group/heartbeat.h: tells which ranks live. Each rank counts its messages, and sends a message to a few others now and then
 * (every `wait` / 32, at most a second) with the newest count that it knows for every rank, so that news about a rank reach all
 * in log2 P messages. A rank whose process is stopped, has died or is disconnected is lost for all others within the time of 2
 * log2 P messages after `wait`; a rank that only computes, or writes a file, is not. For the communication thread
 * (group_thread.c), which polls it; it has no thread of its own and takes the time from its caller. */
#ifndef GROUP_HEARTBEAT_H
#define GROUP_HEARTBEAT_H

#include "rapt/group.h"

#define HEARTBEAT_TAG 32767

typedef struct heartbeat heartbeat;

/* A rank counts as lost if nothing new is heard from it for `wait` seconds. `now`: seconds of any clock. NULL: out of memory. */
heartbeat *heartbeat_new(const rapt_transport *transport, int rank, int size, double wait, double now, rapt_error *err);
void heartbeat_free(heartbeat *h);
/* Sends and receives what is due, without waiting. Returns a failure of the transport, or RAPT_OK. */
rapt_code heartbeat_poll(heartbeat *h, double now, rapt_error *err);
/* The rank that has been silent longest, if it is lost, and the number of other lost ranks; else -1. */
int heartbeat_lost(const heartbeat *h, double now, int *others);
/* Ends it, when all ranks do: to be polled until it is true; no message is under way then. */
void heartbeat_leave(heartbeat *h);
bool heartbeat_left(const heartbeat *h);
/* Seconds until heartbeat_poll has something to do. */
double heartbeat_pause(const heartbeat *h);

#endif

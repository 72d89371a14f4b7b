/* forked.h: runs a function in a child of fork(), as a program's own workers do. The child leaves without its parent's exit
 * handlers, and an alarm ends one that waits for threads which are not there. */
#ifndef TESTS_FORKED_H
#define TESTS_FORKED_H

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKED_SECONDS 60 /* of a child that takes milliseconds */

/* Whether the child ended, and fn was true there. */
static inline bool forked_is_fine(bool (*fn)(void *context), void *context)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(FORKED_SECONDS);
        _exit(fn(context) ? 0 : 1);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#endif

/* cli/start.h: what `rapt` and `rapt-bench` do before a command. */
#ifndef CLI_START_H
#define CLI_START_H

#include <stdbool.h>

/* Call it first: it takes care of closed streams, of arguments that are not UTF-8 on Windows, of files that are cut while they
 * are mapped, and of output that cannot be written. */
void start_program(int *argc, char ***argv);
/* Makes the program end where it is out of memory for JSON. */
void start_json(void);
/* Whether a launcher has started several processes of what runs in one; one of them says so on stderr, as `title`. */
bool start_refuses_group(const char *title);

#endif

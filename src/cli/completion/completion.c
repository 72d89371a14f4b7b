/* cli/completion/completion.c: chooses the shell. */
#include "cli/completion/completion.h"

#include <string.h>

int completion_print(const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    for (size_t i = 0; shell && i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].print();
            return 0;
        }
    usage_of("rapt");
    usage_error(shell ? "--completion: '%s' is none of bash, zsh, fish" : "--completion needs a shell: bash, zsh or fish", shell);
}

/* base/pattern.h: the patterns with which a user chooses names of files, tensors and intermediates. Like fnmatch without flags,
 * but the same on every system and in every locale: a character is a character of UTF-8. */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>

/* Whether the whole text fits: * stands for any characters, also none and slashes; ? for one; [a-z] for one of these and [!a-z]
 * for any other; \ takes away the meaning of the next one. A [ without its ] is a [.
 * Classes such as [:digit:] are not known. */
bool pattern_fits(const char *pattern, const char *text);

#endif

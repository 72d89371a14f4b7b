/* base/near_path.h: "did you mean ...?" for paths that are not there: the entry of the same folder with the nearest name. For
 * messages about files and folders that a person named. */
#ifndef BASE_NEAR_PATH_H
#define BASE_NEAR_PATH_H

enum { NEAR_PATH_TEXT = 128 };

/* Writes '; did you mean "recipes/quickstart.yaml"?', or "" if nothing is near, or if the path is too long for a message. Keeps
 * errno. */
const char *near_path(const char *path, char text[NEAR_PATH_TEXT]);

#endif

/* tests/fuzz/replay.c: a main program for a fuzzer that feeds it every file of a folder, so that the normal test run
 * repeats what fuzzing has found.
 * For CTest: replay_NAME tests/fuzz/corpus/NAME.
 * Not a fuzzer: it changes nothing in its inputs. */
#define _GNU_SOURCE
#include "fuzz/fuzz.h"

#include <dirent.h>

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 20); /* above any seed */
    require(file && bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* A copy of just this size, so that reading beyond it is seen. */
static void feed(const char *path)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size), *tight = malloc(size ? size : 1);
    require(tight != NULL);
    memcpy(tight, bytes, size);
    free(bytes);
    LLVMFuzzerTestOneInput(tight, size);
    free(tight);
}

int main(int argc, char **argv)
{
    struct dirent **files;
    int count = argc == 2 ? scandir(argv[1], &files, NULL, alphasort) : -1, fed = 0;
    for (int i = 0; i < count; i++) {
        char *path;
        require(asprintf(&path, "%s/%s", argv[1], files[i]->d_name) > 0);
        if (files[i]->d_name[0] != '.') {
            printf("%s\n", path);
            fflush(stdout); /* the last one printed is the one that fails */
            feed(path);
            fed++;
        }
        free(path);
        free(files[i]);
    }
    if (count >= 0)
        free(files);
    printf("%d inputs\n", fed);
    return fed > 0 ? 0 : 1;
}

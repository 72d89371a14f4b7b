/* bench/translate_lines.c: rapt's side of translate.py: translates all lines of a file with a Hugging Face folder, once for every
 * line on standard input, and prints a JSON object of the time of each. With a batch of 1 each line is a call of its own, as
 * where somebody waits for it. The first object has the time of loading, and the tokens of all sources and translations.
 *
 *     translate_lines DIR FILE BEAM BATCH THREADS WEIGHTS */
#include <rapt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define LINES 10000 /* max */
#define LINE_SIZE 4096

typedef struct lines {
    rapt_text line[LINES];
    size_t count;
} lines;

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void fail(const char *what)
{
    fprintf(stderr, "translate_lines: %s\n", what);
    exit(1);
}

static void read_lines(const char *path, lines *l)
{
    char text[LINE_SIZE];
    FILE *f = fopen(path, "r");
    while (f && l->count < LINES && fgets(text, sizeof text, f)) {
        text[strcspn(text, "\n")] = '\0';
        char *own = strdup(text);
        if (!own)
            fail("out of memory");
        l->line[l->count++] = rapt_text_of(own);
    }
    if (!f || l->count == 0)
        fail("no lines");
    fclose(f);
}

static void translate(rapt_translator *t, const lines *l, size_t portion, rapt_translation *out)
{
    rapt_error err = {0};
    for (size_t i = 0; i < l->count; i += portion) {
        size_t n = l->count - i < portion ? l->count - i : portion;
        if (rapt_translator_run(t, NULL, l->line + i, n, out + i, &err))
            fail(err.message);
    }
}

static void print_ids(const char *name, const int32_t *ids, size_t count, const char *end)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++)
        printf("%s%d", i ? ", " : "", ids[i]);
    printf("]%s", end);
}

int main(int argc, char **argv)
{
    static lines l;
    static rapt_translation out[LINES];
    char request[16];
    rapt_error err = {0};
    if (argc != 7)
        fail("wants DIR FILE BEAM BATCH THREADS WEIGHTS");
    read_lines(argv[2], &l);
    const size_t batch = strtoul(argv[4], NULL, 10);
    rapt_translate_options o = rapt_translate_options_default();
    o.beam = strtoul(argv[3], NULL, 10);
    o.batch = batch;
    o.compute = (rapt_compute){.threads = atoi(argv[5]), .weights = argv[6]};
    o.split = RAPT_SENTENCE_SPLIT_LONG;
    o.tokens = true;
    double start = wall(), cpu_start = cpu();
    rapt_load_options load = rapt_load_options_default();
    load.inference = true;
    rapt_model *m = rapt_model_load(argv[1], &load, &err);
    rapt_translator *t = m ? rapt_translator_new(m, &o, &err) : NULL;
    if (!t)
        fail(err.message);
    printf("{\"seconds\": %.4f, \"cpu\": %.4f, \"lines\": [", wall() - start, cpu() - cpu_start);
    translate(t, &l, batch > 1 ? l.count : 1, out);
    for (size_t i = 0; i < l.count; i++) {
        printf("{");
        print_ids("source", out[i].source, out[i].source_count, ", ");
        print_ids("target", out[i].hypotheses[0].tokens, out[i].hypotheses[0].token_count, i + 1 < l.count ? "}, " : "}]}\n");
    }
    do {
        rapt_translations_free(out, l.count);
        fflush(stdout);
        if (!fgets(request, sizeof request, stdin))
            break;
        start = wall(), cpu_start = cpu();
        translate(t, &l, batch > 1 ? l.count : 1, out);
        printf("{\"seconds\": %.6f, \"cpu\": %.6f}\n", wall() - start, cpu() - cpu_start);
    } while (true);
    rapt_translator_free(t);
    rapt_model_free(m);
    return 0;
}

/* io/weights/model_card.c: reads the head of a model card with libyaml's events, so that nothing is expanded. A card that cannot
 * be read states no license: it is written for people. */
#include "io/weights/model_card.h"

#include "base/file.h"
#include "base/quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define MAX_CARD ((size_t)4 << 20)

/* The key of the next value in the head's mapping. */
typedef enum card_key { CARD_OTHER, CARD_LICENSE, CARD_NAME } card_key;

typedef struct card_reader {
    yaml_parser_t parser;
    int depth;      /* nesting of mappings and lists; 1: in the head's own mapping */
    bool key_comes; /* there */
    card_key key;
    char license[MODEL_CARD_LICENSE], name[MODEL_CARD_LICENSE];
} card_reader;

/* Finds the YAML between the first line and the next line of three dashes; returns its bytes, 0 if there is none. */
static size_t find_head(const char *text, const char **head)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (strncmp(text, mark, 3) == 0)
        text += 3;
    size_t first = strncmp(text, "---\r\n", 5) == 0 ? 5 : strncmp(text, "---\n", 4) == 0 ? 4 : 0;
    const char *end = first ? strstr(text + first - 1, "\n---") : NULL;
    *head = text + first;
    return end && end > *head ? (size_t)(end - *head) : 0;
}

static void append_word(char list[MODEL_CARD_LICENSE], const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, MODEL_CARD_LICENSE - used, "%s%s", used ? ", " : "", word);
}

static void take_scalar(card_reader *r, const char *text)
{
    if (r->depth == 1 && r->key_comes) {
        r->key = strcmp(text, "license") == 0 ? CARD_LICENSE : strcmp(text, "license_name") == 0 ? CARD_NAME : CARD_OTHER;
    } else if (r->depth <= 2 && r->key == CARD_LICENSE) {
        append_word(r->license, text);
    } else if (r->depth == 1 && r->key == CARD_NAME) {
        append_word(r->name, text);
    }
}

/* Keys and values of the head alternate; a value may be a list or a mapping. */
static void take_event(card_reader *r, const yaml_event_t *e)
{
    const bool begins = e->type == YAML_MAPPING_START_EVENT || e->type == YAML_SEQUENCE_START_EVENT;
    const bool ends = e->type == YAML_MAPPING_END_EVENT || e->type == YAML_SEQUENCE_END_EVENT;
    if (e->type == YAML_SCALAR_EVENT)
        take_scalar(r, (const char *)e->data.scalar.value);
    if (e->type == YAML_MAPPING_START_EVENT && r->depth > 0)
        r->key = CARD_OTHER; /* its words are not a license */
    r->depth += begins - ends;
    if (r->depth == 1)
        r->key_comes = begins || !r->key_comes;
}

static void read_head(card_reader *r, const char *head, size_t size)
{
    yaml_event_t event;
    bool more = true;
    if (!yaml_parser_initialize(&r->parser))
        return;
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)head, size);
    while (more && yaml_parser_parse(&r->parser, &event)) {
        take_event(r, &event);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&r->parser);
}

bool model_card_license(const char *folder, char license[MODEL_CARD_LICENSE])
{
    card_reader r = {.depth = 0};
    char *path = file_join(folder, "README.md"), *text = NULL;
    const char *head;
    size_t size;
    license[0] = '\0';
    if (path && file_read_regular(path, MAX_CARD, &text, &size, NULL) == RAPT_OK && (size = find_head(text, &head)) > 0)
        read_head(&r, head, size);
    free(text);
    free(path);
    if (strcmp(r.license, "other") == 0 && r.name[0])
        append_word(r.license, r.name);
    memcpy(license, r.license, sizeof r.license);
    quote_clean(license);
    return license[0] != '\0';
}

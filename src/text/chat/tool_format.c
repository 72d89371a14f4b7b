/* text/chat/tool_format.c: asks a template, with a tool and a call whose words occur nowhere else. */
#include "text/chat/tool_format.h"

#include "text/chat/chat_template.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that a template may take for so little. */
enum { PROBE_MEMORY = 8 << 20 };

#define NAME "zq_tool"
#define KEY "zq_key"
#define WORD "zq_word"
#define TOOLS "[{\"type\": \"function\", \"function\": {\"name\": \"" NAME "\", \"description\": \"d\", \"parameters\": " \
    "{\"type\": \"object\", \"properties\": {\"" KEY "\": {\"type\": \"string\"}}, \"required\": [\"" KEY "\"]}}}]"
#define WITH_ID "[CALL_ID]abcdefghi[ARGS]{"
#define ASKED "{\"role\": \"user\", \"content\": \"u\"}"
#define CALLED "{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{\"id\": \"abcdefghi\", \"type\": \"function\", " \
    "\"function\": {\"name\": \"" NAME "\", \"arguments\": {\"" KEY "\": \"" WORD "\"}}}]}"
#define ANSWERED "{\"role\": \"tool\", \"tool_call_id\": \"abcdefghi\", \"name\": \"" NAME "\", \"content\": \"c\"}"

const char *tool_format_marker(tool_family family)
{
    static const char *const markers[] = {"", "<tool_call>", "<|python_tag|>", "[TOOL_CALLS]", "[TOOL_CALLS]"};
    return markers[family];
}

const char *tool_format_closing(tool_family family)
{
    return family == TOOLS_HERMES ? "</tool_call>" : "";
}

const char *tool_format_arguments(tool_family family)
{
    return family == TOOLS_LLAMA ? "parameters" : "arguments";
}

/* The text of messages; NULL: the template refuses them. To be freed. */
static char *probe_text(const rapt_chat_template *chat, const char *messages, const char *tools)
{
    char *text = NULL;
    size_t size;
    json_t *list = json_loads(messages, 0, NULL), *given = tools ? json_loads(tools, 0, NULL) : NULL;
    rapt_chat_options o = {CHAT_DEFAULTS};
    o.memory = PROBE_MEMORY;
    o.generation_prompt = false;
    if (list && (given || !tools))
        chat_apply_list(chat, list, given, &o, &text, &size, NULL);
    json_decref(list);
    json_decref(given);
    return text;
}

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \n\r\t");
}

/* After `word`, which must be at `at` behind spaces; NULL: it is not. */
static const char *skip_word(const char *at, const char *word)
{
    at = at ? skip_spaces(at) : NULL;
    return at && strncmp(at, word, strlen(word)) == 0 ? at + strlen(word) : NULL;
}

/* Whether {"name": NAME, KEY_OF_ARGUMENTS: {...}} is at `at`. */
static bool is_call(const char *at, const char *arguments)
{
    static const char *const words[] = {"{", "\"name\"", ":", "\"" NAME "\"", ",", "\"", NULL, "\"", ":", "{", "\"" KEY "\"", ":",
                                        "\"" WORD "\"", "}"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        at = skip_word(at, words[i] ? words[i] : arguments);
    return at != NULL;
}

/* Keeps what stands from `from` to `to`, without spaces at its end: false: it is too long. */
static bool keep_opening(tool_format *f, tool_family family, const char *from, const char *to)
{
    while (to > from && to[-1] == ' ')
        to--;
    if ((size_t)(to - from) >= sizeof f->opening)
        return false;
    f->family = family;
    memcpy(f->opening, from, (size_t)(to - from));
    f->opening[to - from] = '\0';
    return true;
}

/* Whether the call at the last mention of NAME before `word` has the family's form. */
static bool has_form(tool_format *f, tool_family family, const char *text)
{
    const char *marker = tool_format_marker(family), *json = NULL;
    const size_t size = strlen(marker);
    for (const char *at = strstr(text, marker); at; at = strstr(at + 1, marker)) {
        json = skip_spaces(at + size);
        if (family == TOOLS_HERMES && is_call(json, "arguments"))
            return keep_opening(f, family, at, json);
        if (family == TOOLS_MISTRAL && *json == '[' && is_call(json + 1, "arguments"))
            return keep_opening(f, family, at, json);
        if (family == TOOLS_MISTRAL_ARGS && (strncmp(json, NAME "[ARGS]{", strlen(NAME "[ARGS]{")) == 0 ||
                                             strncmp(json, NAME WITH_ID, strlen(NAME WITH_ID)) == 0)) {
            f->call_ids = json[strlen(NAME) + 1] == 'C';
            return keep_opening(f, family, at, json);
        }
    }
    return false;
}

/* Llama's calls have no marker: the turn begins with them, after its header. */
static bool has_llama_form(tool_format *f, const char *text)
{
    for (const char *at = strstr(text, "{"); at; at = strstr(at + 1, "{"))
        if (is_call(at, "parameters"))
            return keep_opening(f, TOOLS_LLAMA, at, at);
    return false;
}

tool_format tool_format_find(const rapt_chat_template *chat)
{
    static const tool_family marked[] = {TOOLS_HERMES, TOOLS_MISTRAL, TOOLS_MISTRAL_ARGS};
    tool_format f = {.family = TOOLS_UNKNOWN};
    char *without = probe_text(chat, "[" ASKED "]", NULL), *with = probe_text(chat, "[" ASKED "]", TOOLS);
    f.takes_tools = with && strstr(with, NAME) && (!without || !strstr(without, NAME));
    char *text = f.takes_tools ? probe_text(chat, "[" ASKED "," CALLED "," ANSWERED "]", TOOLS) : NULL;
    bool found = false;
    for (size_t i = 0; i < sizeof marked / sizeof *marked && text && !found; i++)
        found = has_form(&f, marked[i], text);
    if (text && !found)
        has_llama_form(&f, text);
    free(without);
    free(with);
    free(text);
    return f;
}

/* chat.c: conversations as prompts, by the chat template of the model's folder. */
#include <stdlib.h>

#include "model.h"

#include "rapt/chat.h"

/* Messages from a tuple of (role, content), or as JSON. */
typedef struct conversation {
    rapt_chat_message *messages;
    size_t count;
    rapt_text json;    /* data NULL: none */
    rapt_chat_options options;
} conversation;

static int read_messages(PyObject *tuple, conversation *v)
{
    if (!PyTuple_Check(tuple))
        return ext_sized(tuple, "messages", &v->json) ? 0 : -1;
    v->count = (size_t)PyTuple_Size(tuple);
    if (!(v->messages = PyMem_Calloc(v->count + 1, sizeof *v->messages))) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < v->count; i++) {
        PyObject *role, *content;
        if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, (Py_ssize_t)i), "OO", &role, &content) ||
            !(v->messages[i].role = ext_text(role, "the role of a message")) ||
            !(v->messages[i].content = ext_text(content, "the content of a message")))
            return -1;
    }
    return 0;
}

/* Loads the template, which is done once. */
static rapt_code load_template(model *m, const char *folder, ext_call *c, rapt_error *err)
{
    rapt_code code = ext_lock(c, &m->lock, err);
    if (code)
        return code;
    if (!m->chat)
        m->chat = rapt_chat_template_load(folder, err);
    ext_unlock(&m->lock);
    return m->chat ? RAPT_OK : err->code;
}

/* Within a call. */
static rapt_code apply(model *m, const char *folder, const conversation *v, char **text, size_t *size, int32_t **ids,
                       size_t *count, ext_call *c, rapt_error *err)
{
    rapt_code code = load_template(m, folder, c, err);
    if (!code && v->json.data)
        code = rapt_chat_apply_json(m->chat, v->json.data, v->json.size, &v->options, text, size, err);
    else if (!code)
        code = rapt_chat_apply(m->chat, v->messages, v->count, &v->options, text, size, err);
    return code ? code : rapt_chat_encode(rapt_model_source_tokenizer(m->model), *text, *size, ids, count, err);
}

/* chat_prompt(folder, messages, variables or None, tools or None, generation prompt): (text, ids) */
PyObject *model_chat_prompt(PyObject *self, PyObject *args)
{
    PyObject *path, *messages, *variables, *tools, *hold, *tuple = NULL;
    int prompts;
    if (!PyArg_ParseTuple(args, "OOOOp:chat_prompt", &path, &messages, &variables, &tools, &prompts) ||
        !model_begin(self, &hold))
        return NULL;
    ext_call c;
    rapt_error err = {0};
    const char *folder;
    char *text = NULL;
    size_t size, count;
    int32_t *ids = NULL;
    conversation v = {.options = rapt_chat_options_default()};
    v.options.generation_prompt = prompts;
    v.options.stop = ext_call_stop;
    v.options.context = &c;
    PyObject *bytes = ext_path(path, &folder);
    if (!bytes || read_messages(messages, &v) < 0 ||
        (variables != Py_None && !(v.options.variables = ext_text(variables, "variables"))) ||
        (tools != Py_None && !(v.options.tools = ext_text(tools, "tools"))))
        goto end;
    ext_call_begin(&c, Py_None);
    rapt_code code = apply((model *)self, folder, &v, &text, &size, &ids, &count, &c, &err);
    ext_call_end(&c);
    tuple = code ? ext_raise(ext_state_of(self), &err)
                 : Py_BuildValue("(NN)", PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace"), ext_ids_list(ids, count));
end:
    free(text);
    free(ids);
    PyMem_Free(v.messages);
    Py_XDECREF(bytes);
    model_end(self, hold);
    return tuple;
}

/* chat_calls(folder, tools, reply): JSON, as rapt_chat_calls has it */
PyObject *model_chat_calls(PyObject *self, PyObject *args)
{
    PyObject *path, *tools, *reply, *hold, *json = NULL;
    if (!PyArg_ParseTuple(args, "OOO:chat_calls", &path, &tools, &reply) || !model_begin(self, &hold))
        return NULL;
    ext_call c;
    rapt_error err = {0};
    rapt_text text;
    const char *folder, *list;
    char *found = NULL;
    PyObject *bytes = ext_path(path, &folder);
    if (bytes && (list = ext_text(tools, "tools")) && ext_sized(reply, "a reply", &text)) {
        model *m = (model *)self;
        ext_call_begin(&c, Py_None);
        rapt_code code = load_template(m, folder, &c, &err);
        code = code ? code : rapt_chat_calls(m->chat, list, text.data, text.size, &found, &err);
        ext_call_end(&c);
        json = code ? ext_raise(ext_state_of(self), &err) : PyUnicode_FromString(found);
    }
    free(found);
    Py_XDECREF(bytes);
    model_end(self, hold);
    return json;
}

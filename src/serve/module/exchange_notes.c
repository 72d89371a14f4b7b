/* serve/module/exchange_notes.c: what an exchange notes for its log line and the metrics. */
#include "serve/module/exchange_parts.h"

#include <stdio.h>

void exchange_note(exchange *x, const char *name, double value)
{
    pthread_mutex_lock(&x->lock);
    if (x->note_count < NOTES_MAX) {
        exchange_note_entry *n = &x->notes[x->note_count++];
        snprintf(n->name, sizeof n->name, "%s", name);
        n->value = value;
    }
    pthread_mutex_unlock(&x->lock);
}

void exchange_note_model(exchange *x, const char *name)
{
    pthread_mutex_lock(&x->lock);
    snprintf(x->model, sizeof x->model, "%s", name);
    pthread_mutex_unlock(&x->lock);
}

void exchange_note_owner(exchange *x, const char *name)
{
    pthread_mutex_lock(&x->lock);
    snprintf(x->owner, sizeof x->owner, "%s", name);
    pthread_mutex_unlock(&x->lock);
}

bool exchange_noted(exchange *x, size_t i, const char **name, double *value)
{
    pthread_mutex_lock(&x->lock);
    const bool there = i < x->note_count;
    if (there) {
        *name = x->notes[i].name;
        *value = x->notes[i].value;
    }
    pthread_mutex_unlock(&x->lock);
    return there;
}

const char *exchange_model(exchange *x)
{
    return x->model;
}

const char *exchange_owner(exchange *x)
{
    return x->owner;
}

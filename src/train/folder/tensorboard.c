/* train/folder/tensorboard.c: reports as TensorBoard's events. The file has records of TensorFlow (tensorflow/core/lib/io/
 * record_writer.h: length and data, each with a masked CRC-32C), whose data is a message Event (tensorflow/core/util/event.proto)
 * in the wire format of protocol buffers. Here, as no C library writes either. All of it is a function of train.jsonl, so that a
 * resumed run has the same file; for the time of day there are the seconds of the run. */
#include "train/folder/tensorboard.h"

#include "base/buffer.h"
#include "base/file.h"

#include <jansson.h>
#include <string.h>

/* Number and wire type of the fields. */
enum {
    EVENT_TIME = 1 << 3 | 1, /* double, s */
    EVENT_STEP = 2 << 3,
    EVENT_VERSION = 3 << 3 | 2,
    EVENT_SUMMARY = 5 << 3 | 2,
    SUMMARY_VALUE = 1 << 3 | 2,
    VALUE_TAG = 1 << 3 | 2,
    VALUE_NUMBER = 2 << 3 | 5 /* float */
};

static void event_number(buffer_writer *w, uint64_t x, int bytes)
{
    for (; bytes > 0; bytes--, x >>= 8)
        buffer_put(w, &(uint8_t){(uint8_t)x}, 1);
}

static void event_varint(buffer_writer *w, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        event_number(w, x | 0x80, 1);
    event_number(w, x, 1);
}

static void event_bytes(buffer_writer *w, uint8_t field, const void *data, size_t size)
{
    event_number(w, field, 1);
    event_varint(w, size);
    buffer_put(w, data, size);
}

static void event_seconds(buffer_writer *w, double seconds)
{
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    event_number(w, EVENT_TIME, 1);
    event_number(w, bits, sizeof bits);
}

/* CRC-32C (RFC 3720, 12.1), rotated and added to, as a checksum of data that holds checksums would be weak. */
static void event_checksum(buffer_writer *w, const char *data, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= (uint8_t)data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    crc = ~crc;
    event_number(w, (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8), 4);
}

static void event_record(buffer_writer *w, buffer_writer *event)
{
    w->failed = w->failed || event->failed;
    const size_t at = w->bytes.size;
    event_number(w, event->bytes.size, 8);
    if (!w->failed) {
        event_checksum(w, w->bytes.data + at, 8);
        buffer_put(w, event->bytes.data, event->bytes.size);
        event_checksum(w, event->bytes.data, event->bytes.size);
    }
    buffer_free(&event->bytes);
}

static void event_first(buffer_writer *w)
{
    static const char version[] = "brain.Event:2";
    buffer_writer event = {0};
    event_seconds(&event, 0);
    event_bytes(&event, EVENT_VERSION, version, sizeof version - 1);
    event_record(w, &event);
}

static void event_figure(buffer_writer *summary, const char *tag, double number)
{
    buffer_writer value = {0};
    const float x = (float)number;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    event_bytes(&value, VALUE_TAG, tag, strlen(tag));
    event_number(&value, VALUE_NUMBER, 1);
    event_number(&value, bits, sizeof bits);
    event_bytes(summary, SUMMARY_VALUE, value.bytes.data, value.bytes.size);
    summary->failed = summary->failed || value.failed;
    buffer_free(&value.bytes);
}

/* The numbers of a line that are no whole ones (step and epoch are). */
static void event_of_line(buffer_writer *w, const char *line, size_t size)
{
    buffer_writer summary = {0}, event = {0};
    const char *key;
    json_t *number, *o = json_loadb(line, size, 0, NULL);
    w->failed = w->failed || !o; /* it was written or parsed before: out of memory */
    json_object_foreach(o, key, number)
        if (json_is_real(number))
            event_figure(&summary, key, json_real_value(number));
    event_seconds(&event, json_number_value(json_object_get(o, "seconds")));
    event_number(&event, EVENT_STEP, 1);
    event_varint(&event, (uint64_t)json_integer_value(json_object_get(o, "step")));
    event_bytes(&event, EVENT_SUMMARY, summary.bytes.data, summary.bytes.size);
    event.failed = event.failed || summary.failed;
    event_record(w, &event);
    buffer_free(&summary.bytes);
    json_decref(o);
}

static rapt_code tensorboard_out_of_memory(const char *folder, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_MEMORY, "%s: out of memory for " TENSORBOARD_FILE, folder);
}

rapt_code tensorboard_append(const char *folder, const char *line, size_t size, rapt_error *err)
{
    buffer_writer w = {0};
    char *path;
    bool there = false;
    rapt_code code = file_path(folder, TENSORBOARD_FILE, &path, err);
    code = code ? code : file_is_there(path, &there, err);
    if (!there)
        event_first(&w);
    event_of_line(&w, line, size);
    if (!code)
        code = w.failed ? tensorboard_out_of_memory(folder, err) : file_append(path, w.bytes.data, w.bytes.size, err);
    buffer_free(&w.bytes);
    free(path);
    return code;
}

static bool is_written(const char *path, const buffer *wanted)
{
    char *data = NULL;
    size_t size = 0;
    const bool same = file_read_regular(path, wanted->size, &data, &size, NULL) == RAPT_OK && size == wanted->size &&
                      memcmp(data, wanted->data, size) == 0;
    free(data);
    return same;
}

rapt_code tensorboard_rewrite(const char *folder, const char *lines, size_t size, rapt_error *err)
{
    buffer_writer w = {0};
    char *path;
    rapt_code code = file_path(folder, TENSORBOARD_FILE, &path, err);
    event_first(&w);
    for (size_t at = 0, length; at < size && !w.failed; at += length + 1) {
        const char *end = memchr(lines + at, '\n', size - at);
        length = end ? (size_t)(end - lines) - at : size - at;
        event_of_line(&w, lines + at, length);
    }
    if (!code && w.failed)
        code = tensorboard_out_of_memory(folder, err);
    if (!code && !is_written(path, &w.bytes))
        code = file_write_atomic(path, w.bytes.data, w.bytes.size, err);
    buffer_free(&w.bytes);
    free(path);
    return code;
}

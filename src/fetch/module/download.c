/* fetch/module/download.c: downloads with libcurl, and decides when to resume and when to start over. */
#define _GNU_SOURCE
#include "fetch/module/get_parts.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS_TO_CONNECT = 30, SECONDS_OF_SILENCE = 60, MAX_REDIRECTIONS = 10, OF_PACKING = 1 << 16 };

typedef struct transfer {
    const fetch_request *request;
    const char *part;
    int fd;
    bool busy; /* with another process */
    curl_off_t start; /* bytes that were there before */
    size_t size;      /* and with those that came since */
    rapt_code failed; /* for a reason that libcurl doesn't know */
    char reason[CURL_ERROR_SIZE];
    rapt_error *err;
} transfer;

static rapt_code fail_part(const char *part, rapt_error *err)
{
    return rapt_fail(err, RAPT_ERR_IO, "cannot write %.200s: %s", part, strerror(errno));
}

static rapt_code download_append(transfer *t, const char *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(t->fd, data + done, size - done);
        if (n < 0 && errno != EINTR)
            return fail_part(t->part, t->err);
        done += n > 0 ? (size_t)n : 0;
    }
    return RAPT_OK;
}

/* No packing makes a file twice as large, and a server that never ends must not fill the disk. */
static rapt_code download_check_size(transfer *t)
{
    const fetch_file *file = t->request->file;
    if (t->size <= 2 * file->bytes + OF_PACKING)
        return RAPT_OK;
    return rapt_fail(t->err, RAPT_ERR_FORMAT, "%.200s does not hold %.60s: it sends more than %zu bytes", t->request->url,
                     file->name, 2 * file->bytes + OF_PACKING);
}

/* Returns a number other than the number of bytes to end the transfer. */
static size_t download_take(char *data, size_t size, size_t count, void *context)
{
    transfer *t = context;
    t->size += size * count;
    t->failed = download_check_size(t);
    t->failed = t->failed ? t->failed : download_append(t, data, size * count);
    return t->failed ? 0 : size * count;
}

static int download_report(void *context, curl_off_t all, curl_off_t now, curl_off_t up_all, curl_off_t up)
{
    const transfer *t = context;
    const fetch_request *r = t->request;
    (void)up_all;
    (void)up;
    if (r->progress)
        r->progress(r->context, (size_t)(t->start + now), all > 0 ? (size_t)(t->start + all) : 0);
    return 0;
}

static void set_options(CURL *curl, transfer *t)
{
    curl_easy_setopt(curl, CURLOPT_URL, t->request->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http,file");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https,http");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)MAX_REDIRECTIONS);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)SECONDS_TO_CONNECT);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SECONDS_OF_SILENCE);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "rapt/" RAPT_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, t->reason);
    curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, t->start);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, download_take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, download_report);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

static CURLcode perform(CURL *curl, transfer *t)
{
    t->reason[0] = '\0';
    t->size = (size_t)t->start;
    set_options(curl, t);
    CURLcode result = curl_easy_perform(curl);
    if (result != CURLE_OK && !t->reason[0])
        strncpy(t->reason, curl_easy_strerror(result), sizeof t->reason - 1);
    return result;
}

/* The server sends a file from its start only, or has a shorter one. */
static bool cannot_resume(CURLcode result)
{
    return result == CURLE_RANGE_ERROR || result == CURLE_BAD_DOWNLOAD_RESUME;
}

static rapt_code fetch_rest(CURL *curl, transfer *t)
{
    CURLcode result = perform(curl, t);
    if (t->start > 0 && cannot_resume(result)) {
        if (ftruncate(t->fd, 0) != 0)
            return fail_part(t->part, t->err);
        t->start = 0;
        result = perform(curl, t);
    }
    if (result == CURLE_OK || t->failed)
        return t->failed;
    return rapt_fail(t->err, RAPT_ERR_NOT_FOUND, "cannot fetch %.200s: %.100s", t->request->url, t->reason);
}

/* The name of a part is predictable: in a folder where others can write, it may be a link to another file, whose bytes would be
 * lost. Does not wait for a pipe. */
static int open_own(const char *part, int flags)
{
    struct stat info;
    int fd = open(part, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0666);
    if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1))
        return fd;
    close(fd);
    errno = ELOOP;
    return -1;
}

/* Locked as long as it is open: two writers would mix their bytes. */
static rapt_code open_part(transfer *t)
{
    t->fd = open_own(t->part, O_CREAT);
    if (t->fd < 0 && (errno == ELOOP || errno == ENXIO))
        return rapt_fail(t->err, RAPT_ERR_IO, "%.200s is a link or no regular file, and is not written to; remove it", t->part);
    if (t->fd < 0)
        return fail_part(t->part, t->err);
    t->busy = flock(t->fd, LOCK_EX | LOCK_NB) != 0;
    if (t->busy)
        return rapt_fail(t->err, RAPT_ERR_IO, "%.200s: another process is fetching it", t->part);
    t->start = lseek(t->fd, 0, SEEK_END);
    return RAPT_OK;
}

void download_forget(const char *part)
{
    int fd = open_own(part, 0);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlink(part);
    close(fd);
}

rapt_code download(const fetch_request *request, const char *part, bool *resumed, rapt_error *err)
{
    transfer t = {.request = request, .part = part, .err = err};
    rapt_code code = open_part(&t);
    CURL *curl = code ? NULL : curl_easy_init();
    if (!code)
        code = curl ? fetch_rest(curl, &t) : rapt_fail(err, RAPT_ERR_MEMORY, "out of memory for a download");
    curl_easy_cleanup(curl);
    *resumed = t.start > 0;
    if (code && t.fd >= 0 && !t.busy && lseek(t.fd, 0, SEEK_END) == 0)
        unlink(part); /* nothing was downloaded */
    if (t.fd >= 0 && close(t.fd) != 0 && !code)
        code = fail_part(part, err);
    return code;
}

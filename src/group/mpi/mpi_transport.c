/* group/mpi/mpi_transport.c: the transport of an MPI. The only file that includes mpi.h: it is compiled as a module for each MPI
 * of the build machine (CMakeLists.txt), so that the program itself needs no MPI. MPI only moves bytes here: the order of its own
 * sums depends on the number of processes (MPI 4.1, 6.9.1).
 *
 * All calls come from the thread that calls `open`, so MPI_THREAD_FUNNELED is enough. Every MPI takes tags up to 32767
 * (MPI_TAG_UB), and a message of RAPT_TRANSPORT_MAX bytes fits the int of its counts. */
#include "group/mpi/mpi_transport.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_NAME 64

/* A message under way. Free ones are chained by `next`, -1 at the end. */
typedef struct mpi_message {
    MPI_Request request;
    int from, next;
    size_t expected; /* bytes to receive; 0 for a message that is sent */
} mpi_message;

typedef struct mpi_state {
    MPI_Comm ranks;
    mpi_message *messages;
    int count, first_free;
} mpi_state;

static rapt_code mpi_check(int result, const char *what, rapt_error *err)
{
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (result == MPI_SUCCESS)
        return RAPT_OK;
    MPI_Error_string(result, reason, &length);
    return rapt_fail(err, RAPT_ERR_IO, "MPI cannot %s: %s", what, reason);
}

static rapt_code mpi_open(void *context, int *rank, int *size, rapt_error *err)
{
    mpi_state *s = context;
    int level;
    rapt_code code = mpi_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "start", err);
    if (!code && level < MPI_THREAD_FUNNELED)
        code = rapt_fail(err, RAPT_ERR_VALUE, "this MPI is built without threads (MPI_THREAD_FUNNELED)");
    if (!code) /* a communicator of our own, with errors that are returned: by default they end the process */
        code = mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &s->ranks), "join the ranks", err);
    if (code)
        return code;
    MPI_Comm_set_errhandler(s->ranks, MPI_ERRORS_RETURN);
    MPI_Comm_rank(s->ranks, rank);
    MPI_Comm_size(s->ranks, size);
    s->first_free = -1;
    return RAPT_OK;
}

static rapt_code more_messages(mpi_state *s, rapt_error *err)
{
    int count = s->count ? 2 * s->count : 64;
    mpi_message *all = realloc(s->messages, (size_t)count * sizeof *all);
    if (!all)
        return rapt_fail(err, RAPT_ERR_MEMORY, "out of memory");
    for (int i = s->count; i < count; i++)
        all[i].next = i + 1 < count ? i + 1 : -1;
    s->first_free = s->count;
    s->messages = all;
    s->count = count;
    return RAPT_OK;
}

static rapt_code mpi_send(void *context, int rank, int tag, const void *data, size_t bytes, int *request, rapt_error *err)
{
    mpi_state *s = context;
    if (s->first_free < 0 && more_messages(s, err))
        return RAPT_ERR_MEMORY;
    mpi_message *m = &s->messages[s->first_free];
    rapt_code code = mpi_check(MPI_Isend(data, (int)bytes, MPI_BYTE, rank, tag, s->ranks, &m->request), "send", err);
    if (code)
        return code;
    m->expected = 0;
    *request = s->first_free;
    s->first_free = m->next;
    return RAPT_OK;
}

static rapt_code mpi_receive(void *context, int rank, int tag, void *data, size_t bytes, int *request, rapt_error *err)
{
    mpi_state *s = context;
    if (s->first_free < 0 && more_messages(s, err))
        return RAPT_ERR_MEMORY;
    mpi_message *m = &s->messages[s->first_free];
    rapt_code code = mpi_check(MPI_Irecv(data, (int)bytes, MPI_BYTE, rank, tag, s->ranks, &m->request), "receive", err);
    if (code)
        return code;
    m->expected = bytes;
    m->from = rank;
    *request = s->first_free;
    s->first_free = m->next;
    return RAPT_OK;
}

static rapt_code mpi_test(void *context, int request, bool *done, rapt_error *err)
{
    mpi_state *s = context;
    mpi_message *m = &s->messages[request];
    MPI_Status status;
    int flag = 0, bytes = 0;
    rapt_code code = mpi_check(MPI_Test(&m->request, &flag, &status), "move a message", err);
    *done = flag != 0;
    if (code || !flag)
        return code;
    if (m->expected > 0) { /* MPI reports a longer message as an error, but not a shorter one */
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        if ((size_t)bytes != m->expected)
            code = rapt_fail(err, RAPT_ERR_FORMAT, "rank %d has sent %d bytes, not %zu: the ranks do different things", m->from,
                             bytes, m->expected);
    }
    m->next = s->first_free;
    s->first_free = request;
    return code;
}

/* Probing for a message advances all requests. */
static void mpi_progress(void *context)
{
    mpi_state *s = context;
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->ranks, &flag, MPI_STATUS_IGNORE);
}

static void mpi_abort(void *context, int status)
{
    (void)context;
    MPI_Abort(MPI_COMM_WORLD, status);
    _exit(status);
}

/* MPICH 4.0 over UCX and TCP closes its connections in MPI_Finalize, for which both ends have to make progress; a rank that is
 * done makes none, in a barrier of its mpirun, and another may wait for it without end (seen in a third of runs between machines,
 * and under `srun --mpi=pmi2` in one of six). So this function itself tells the launcher that the rank leaves, with version 1 of
 * the protocol PMI, which srun also speaks. Returns whether it did. */
static bool leave_by_pmi(void)
{
#ifdef MPICH_VERSION
    static const char leaves[] = "cmd=finalize\n";
    const char *text = getenv("PMI_FD");
    int fd = text ? atoi(text) : -1;
    char answer[256];
    return fd >= 0 && write(fd, leaves, sizeof leaves - 1) == (ssize_t)sizeof leaves - 1 && read(fd, answer, sizeof answer) > 0;
#else
    return false;
#endif
}

static void mpi_close(void *context)
{
    mpi_state *s = context;
    free(s->messages);
    s->messages = NULL;
    s->count = 0;
    MPI_Barrier(s->ranks);
    MPI_Comm_free(&s->ranks);
    if (!leave_by_pmi())
        MPI_Finalize();
}

/* "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n..." to name and version. */
static void mpi_write_name(char name[LONGEST_NAME])
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    char *colon = strstr(text, " Version:"), *number = strstr(text, " v");
    if (colon)
        snprintf(name, LONGEST_NAME, "%.*s %.20s", (int)(colon - text), text, colon + 9 + strspn(colon + 9, " \t"));
    else if (number)
        snprintf(name, LONGEST_NAME, "%.*s %.20s", (int)(number - text), text, number + 2);
    else
        snprintf(name, LONGEST_NAME, "%.60s", text);
}

const rapt_transport *mpi_transport(void)
{
    static mpi_state state;
    static char name[LONGEST_NAME];
    static const rapt_transport transport = {.context = &state, .open = mpi_open, .send = mpi_send, .receive = mpi_receive,
                                             .test = mpi_test, .progress = mpi_progress, .abort = mpi_abort,
                                             .close = mpi_close, .name = name};
    if (!name[0])
        mpi_write_name(name);
    return &transport;
}

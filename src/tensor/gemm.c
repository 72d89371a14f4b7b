/* tensor/gemm.c: blocking and threading of matrix products. For the linear layers, forward and backward. The order
 * of every sum is fixed by the kernels; what is chosen here changes speed only. */
#include "tensor/gemm.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define COLUMNS_MAX 384 /* of B packed at once: 576 KiB with a full K block, some half of an L2 cache */
#define ROWS_MAX 512
#define IN_PLACE_TILES 4 /* row tiles of a task up to which B is not packed */
#define TASKS_PER_THREAD 3 /* enough to even out threads of unequal speed */

size_t gemm_workspace_size(void)
{
    return (size_t)COLUMNS_MAX * KERNELS_K_BLOCK;
}

typedef struct gemm_split {
    const gemm_team *team;
    const gemm_job *job;
    size_t rows, columns;    /* of a task */
    size_t column_tasks;
} gemm_split;

static size_t round_up(size_t a, size_t b)
{
    return (a + b - 1) / b * b;
}

static size_t count_of(size_t total, size_t part)
{
    return (total + part - 1) / part;
}

/* Tasks are as large as the cache allows, then halved (the side that costs less repacking first) until every
 * thread gets some. */
static gemm_split choose_split(const gemm_team *team, const gemm_job *job)
{
    size_t mr = (size_t)team->kernels->mr, nr = (size_t)team->kernels->nr;
    gemm_split s = {.team = team, .job = job};
    s.rows = MIN(round_up(ROWS_MAX, mr), round_up(job->m, mr));
    s.columns = round_up(count_of(job->n, count_of(job->n, COLUMNS_MAX)), nr); /* tasks of one size */
    size_t wanted = pool_threads(team->pool) > 1 ? (size_t)pool_threads(team->pool) * TASKS_PER_THREAD : 1;
    while (count_of(job->m, s.rows) * count_of(job->n, s.columns) < wanted) {
        if (s.rows > 4 * mr && s.rows >= s.columns)
            s.rows = round_up(s.rows / 2, mr);
        else if (s.columns > nr)
            s.columns = round_up(s.columns / 2, nr);
        else if (s.rows > mr)
            s.rows = round_up(s.rows / 2, mr);
        else
            break;
    }
    s.column_tasks = count_of(job->n, s.columns);
    return s;
}

/* Packing B costs as much as a few rows of the product: for fewer it is read where it stands. */
static bool reads_in_place(const kernels *kn, const gemm_job *job, size_t m, size_t n)
{
    return panels_can_stay(job->b, n) && m <= IN_PLACE_TILES * (size_t)kn->mr;
}

/* One K block of a task: it comes packed, is read in place, or is packed here into the thread's own memory. */
static panel_block block_of(const gemm_split *s, size_t k0, size_t kc, size_t j0, size_t m, size_t n, int worker)
{
    const gemm_job *job = s->job;
    const kernels *kn = s->team->kernels;
    if (job->packed)
        return panels_packed(kn, kc, job->packed + k0 * round_up(job->n, (size_t)kn->nr) + j0 * kc);
    if (reads_in_place(kn, job, m, n))
        return panels_in_place(kn, matrix_at(job->b, k0, j0));
    rapt_real *own = s->team->workspace + (size_t)worker * gemm_workspace_size();
    panels_pack(kn, kc, n, matrix_at(job->b, k0, j0), own);
    return panels_packed(kn, kc, own);
}

static void run_task(const gemm_split *s, size_t task, int worker)
{
    const gemm_job *job = s->job;
    size_t i0 = task / s->column_tasks * s->rows, j0 = task % s->column_tasks * s->columns;
    size_t m = MIN(s->rows, job->m - i0), n = MIN(s->columns, job->n - j0);
    for (size_t k0 = 0; k0 < job->k; k0 += KERNELS_K_BLOCK) {
        size_t kc = MIN(KERNELS_K_BLOCK, job->k - k0);
        kernels_tail tail = panels_block_tail(&job->tail, k0, job->k);
        tail.bias = tail.bias ? tail.bias + j0 : NULL;
        matrix a = matrix_at(job->a, i0, k0);
        panel_block b = block_of(s, k0, kc, j0, m, n, worker);
        panels_multiply_block(s->team->kernels, m, n, kc, &a, &b, job->c + i0 * job->n + j0, job->n, &tail);
    }
}

/* Several products whose tasks are handed out together. */
typedef struct gemm_group {
    gemm_split splits[GEMM_MOST_JOBS];
    size_t tasks[GEMM_MOST_JOBS]; /* of each */
} gemm_group;

static void group_task(void *context, size_t task, int worker)
{
    const gemm_group *g = context;
    size_t job = 0;
    for (; task >= g->tasks[job]; job++)
        task -= g->tasks[job];
    run_task(&g->splits[job], task, worker);
}

/* ---- packing once for all ----------------------------------------------------------------------------------- */

/* Right factors that several tasks of a group read: packed first, by all threads, into all their memory. */
typedef struct gemm_packing {
    const gemm_team *team;
    gemm_job jobs[GEMM_MOST_JOBS];
    rapt_real *to[GEMM_MOST_JOBS];
    size_t panels[GEMM_MOST_JOBS]; /* of all K blocks of each */
    size_t count;
} gemm_packing;

/* Whether any task of the product packs. */
static bool packs(const gemm_split *s)
{
    return !s->job->packed && !reads_in_place(s->team->kernels, s->job, MIN(s->rows, s->job->m), s->job->n);
}

/* One panel of one K block. */
static void pack_task(void *context, size_t task, int worker)
{
    const gemm_packing *p = context;
    size_t i = 0;
    (void)worker;
    for (; task >= p->panels[i]; i++)
        task -= p->panels[i];
    const gemm_job *job = &p->jobs[i];
    size_t nr = (size_t)p->team->kernels->nr, panels = count_of(job->n, nr);
    size_t k0 = task / panels * KERNELS_K_BLOCK, j = task % panels * nr, kc = MIN(KERNELS_K_BLOCK, job->k - k0);
    panels_pack(p->team->kernels, kc, MIN(nr, job->n - j), matrix_at(job->b, k0, j),
                p->to[i] + k0 * panels * nr + j * kc);
}

/* Packs what tasks would pack, where several of them share it and there is room for all; `jobs` then have it as packed.
 * All or nothing: a task that packs does it in the same memory. */
static void pack_shared(const gemm_team *team, const gemm_group *g, gemm_job *jobs, size_t count)
{
    gemm_packing p = {.team = team};
    size_t room = gemm_workspace_size() * (size_t)pool_threads(team->pool), used = 0, panels = 0;
    bool shared = false;
    for (size_t i = 0; i < count; i++) {
        used += packs(&g->splits[i]) ? panels_size(team->kernels, jobs[i].k, jobs[i].n) : 0;
        shared = shared || (packs(&g->splits[i]) && jobs[i].m > g->splits[i].rows);
    }
    if (!shared || used > room)
        return;
    rapt_real *next = team->workspace;
    for (size_t i = 0; i < count; i++) {
        if (!packs(&g->splits[i]))
            continue;
        p.jobs[p.count] = jobs[i];
        p.to[p.count] = next;
        p.panels[p.count] = count_of(jobs[i].k, KERNELS_K_BLOCK) * count_of(jobs[i].n, (size_t)team->kernels->nr);
        panels += p.panels[p.count++];
        jobs[i].packed = next;
        next += panels_size(team->kernels, jobs[i].k, jobs[i].n);
    }
    pool_run(team->pool, panels, 4 * used, pack_task, &p);
}

void gemm_all(const gemm_team *team, const gemm_job *wanted, size_t count)
{
    gemm_group g;
    gemm_job jobs[GEMM_MOST_JOBS];
    size_t tasks = 0, work = 0;
    for (size_t i = 0; i < count; i++) {
        jobs[i] = wanted[i];
        g.splits[i] = choose_split(team, &jobs[i]);
        g.tasks[i] = count_of(jobs[i].m, g.splits[i].rows) * g.splits[i].column_tasks;
        tasks += g.tasks[i];
        work += jobs[i].m * jobs[i].n * jobs[i].k / 8;
    }
    pack_shared(team, &g, jobs, count);
    pool_run(team->pool, tasks, work, group_task, &g);
}

void gemm(const gemm_team *team, const gemm_job *job)
{
    gemm_all(team, job, 1);
}

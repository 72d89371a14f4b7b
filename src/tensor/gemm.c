/* tensor/gemm.c: blocking and threading of matrix products. For the linear layers, forward and backward. The order
 * of every sum is fixed by the kernels; what is chosen here changes speed only. */
#include "tensor/gemm.h"

#include "base/min.h"
#include "tensor/param_source.h"

#define SHARED_PAIRS ((size_t)2 << 20) /* max elements packed for all tasks at once; larger for pairs, which are half the size and
                                          must be converted anyway */
#define ROWS_MAX 512
#define IN_PLACE_TILES 4 /* max row tiles of a task for which B is not packed */
#define TASKS_PER_THREAD 6 /* enough to even out threads of unequal speed */
#define FEW_ROWS 64        /* rows of quantized activations in a group of row tiles (panels.c) */
#define ROW_TASKS 4        /* tasks for a product of one row: few and long, because memory bandwidth is the limit */

size_t gemm_workspace_size(int threads)
{
    size_t own = (size_t)threads * GEMM_OWN;
    return own > SHARED_PAIRS ? own : SHARED_PAIRS;
}

/* Max elements that are packed for all tasks at once. A larger fp32 operand is better packed by each task that reads it, into the
 * cache of its core. */
static size_t shared_capacity(const gemm_team *team)
{
    int threads = pool_threads(team->pool);
    return team->gemm->pair > 1 ? gemm_workspace_size(threads) : (size_t)threads * GEMM_OWN;
}

rapt_real *gemm_own(const gemm_team *team, int worker)
{
    return team->workspace + (size_t)worker * GEMM_OWN;
}

/* C as row tiles and column panels, divided into tasks as evenly as possible. */
typedef struct gemm_split {
    size_t tiles, row_tasks;
    size_t panels, column_tasks;
} gemm_split;

/* Jobs whose tasks are scheduled together. */
typedef struct gemm_group {
    const gemm_team *team;
    size_t count;
    gemm_job jobs[GEMM_MAX_JOBS];
    gemm_split splits[GEMM_MAX_JOBS];
    size_t tasks[GEMM_MAX_JOBS]; /* tasks of each job; 0 if it accumulates into the previous job */
} gemm_group;

static size_t count_of(size_t total, size_t part)
{
    return (total + part - 1) / part;
}

/* Max columns of B that a thread packs at once: 576 KiB, about half of an L2 cache. */
static size_t columns_max(const kernels_gemm *kn)
{
    const size_t nr = (size_t)kn->nr;
    return GEMM_OWN / kernels_packed_count(kn, KERNELS_K_BLOCK) / nr * nr;
}

/* Tasks are as large as the cache allows, then halved until every thread gets some. The side that costs less repacking is halved
 * first; for bf16 pairs that is always the rows, because each task packs its rows of A. With quantized weights, rows are packed
 * once for all tasks; a few rows, and rows times stored blocks, are divided last, so that each weight is read or packed once. */
static gemm_split choose_split(const gemm_team *team, const gemm_job *job)
{
    size_t mr = (size_t)team->gemm->mr, nr = (size_t)team->gemm->nr;
    gemm_split s = {.tiles = count_of(job->m, mr), .panels = count_of(job->n, nr)};
    const bool pairs = kernels_converts_a(team->gemm), row = job->m == 1;
    const bool few = job->stored || (team->gemm->a_row && job->packed && job->m <= FEW_ROWS);
    size_t wanted = pool_threads(team->pool) > 1 ? (size_t)pool_threads(team->pool) * (row ? ROW_TASKS : TASKS_PER_THREAD) : 1;
    s.row_tasks = count_of(job->m, ROWS_MAX);
    s.column_tasks = count_of(job->n, columns_max(team->gemm));
    while (s.row_tasks * s.column_tasks < wanted) {
        size_t tiles = count_of(s.tiles, s.row_tasks), panels = count_of(s.panels, s.column_tasks);
        if (few && panels > 1)
            s.column_tasks = MIN(2 * s.column_tasks, s.panels);
        else if (pairs ? tiles > 1 : tiles > 4 && tiles * mr >= panels * nr)
            s.row_tasks = MIN(2 * s.row_tasks, s.tiles);
        else if (pairs && s.row_tasks >= 2 * (size_t)pool_threads(team->pool))
            break; /* enough tasks for all threads */
        else if (panels > 1)
            s.column_tasks = MIN(2 * s.column_tasks, s.panels);
        else if (tiles > 1)
            s.row_tasks = MIN(2 * s.row_tasks, s.tiles);
        else
            break;
    }
    return s;
}

/* Packing B costs as much as a few rows of the product. With fewer rows, or if rows of B are close together, B is read in
 * place. */
static bool reads_in_place(const kernels_gemm *kn, const gemm_job *job, size_t m, size_t n)
{
    return panels_can_stay(kn, job->b, n) && (job->b.row < kn->far || m <= IN_PLACE_TILES * (size_t)kn->mr);
}

/* The block [m, n] of C at row i, column j, which a task computes. */
typedef struct gemm_part {
    size_t i, j, m, n;
    int worker;
} gemm_part;

/* Packs columns of a K block whose stored blocks the kernels take. */
static panel_block block_of_stored(const kernels_gemm *kn, const gemm_job *job, const gemm_part *p, size_t k0, size_t kc,
                                   rapt_real *to)
{
    const uint8_t *columns[KERNELS_MAX_NR];
    const size_t nr = (size_t)kn->nr, panel = kernels_packed_count(kn, kc) * nr;
    for (size_t j = 0; j < p->n; j += nr) {
        const size_t count = MIN(nr, p->n - j);
        for (size_t i = 0; i < count; i++)
            columns[i] = param_source_blocks(job->stored, p->j + j + i);
        kn->pack_stored(param_source_type(job->stored), k0, kc, (int)count, columns, to + j / nr * panel);
    }
    return panels_packed(kn, kc, to);
}

/* One K block of a task: B is packed already, read in place, or packed here, into `piece` or the thread's own memory. */
static panel_block block_of(const gemm_team *team, const gemm_job *job, const gemm_part *p, size_t k0, size_t kc,
                            rapt_real *piece)
{
    const kernels_gemm *kn = team->gemm;
    if (job->stored)
        return block_of_stored(kn, job, p, k0, kc, job->rounded ? piece : gemm_own(team, p->worker));
    if (job->packed)
        return panels_packed(kn, kc, job->packed + panels_at(kn, job->n, k0, kc, p->j));
    const matrix block = matrix_at(job->b, k0, p->j);
    if (reads_in_place(kn, job, p->m, p->n))
        return panels_in_place(kn, block);
    rapt_real *own = gemm_own(team, p->worker);
    panels_pack(kn, kc, p->n, &block, own);
    return panels_packed(kn, kc, own);
}

/* The rows of A from row i on, of the K block at k0. */
static matrix rows_of(const kernels_gemm *kn, const gemm_job *job, size_t i, size_t k0)
{
    const size_t numbers = (size_t)kn->a_row;
    if (!job->rounded)
        return matrix_at(job->a, i, k0);
    return (matrix){job->rounded + (k0 / KERNELS_K_BLOCK * job->m + i) * numbers, (ptrdiff_t)numbers, 1, true};
}

static void gemm_multiply(const gemm_team *team, const gemm_job *job, const gemm_part *p)
{
    _Alignas(KERNELS_ALIGN) rapt_real piece[GEMM_PIECE * GEMM_PIECE_ROW];
    const size_t ldc = job->ldc ? job->ldc : job->n;
    for (size_t k0 = 0; k0 < job->k; k0 += KERNELS_K_BLOCK) {
        size_t kc = MIN(KERNELS_K_BLOCK, job->k - k0);
        kernels_epilogue epilogue = panels_block_epilogue(&job->epilogue, k0, job->k);
        epilogue.bias = epilogue.bias ? epilogue.bias + p->j : NULL;
        epilogue.accumulate = epilogue.accumulate || job->accumulates_into_previous;
        matrix a = rows_of(team->gemm, job, p->i, k0);
        panel_block b = block_of(team, job, p, k0, kc, piece);
        panels_multiply_block(team->gemm, p->m, p->n, kc, &a, &b, job->c + p->i * ldc + p->j, ldc, &epilogue);
    }
    for (size_t i = p->i; job->epilogue_fn && i < p->i + p->m; i++)
        job->epilogue_fn(team->kernels, job->context, i * ldc + p->j, p->n);
}

/* Stored blocks are multiplied in pieces that stay in the L1 cache; all K blocks of a piece come one after the other, because
 * memory is fastest in the order of the file. Each piece would round A again, so this needs an A that is rounded. */
static void gemm_multiply_pieces(const gemm_team *team, const gemm_job *job, const gemm_part *p)
{
    const size_t most = job->stored && job->rounded ? GEMM_PIECE : p->n;
    for (size_t done = 0; done < p->n; done += most)
        gemm_multiply(team, job, &(gemm_part){p->i, p->j + done, p->m, MIN(most, p->n - done), p->worker});
}

/* Prefetches the first stored blocks of a thread's range of tasks, which its packing prefetches too late. */
static void fetch_stored(const gemm_job *job, size_t column)
{
    const block_format *format = blocks_of_id(param_source_type(job->stored));
    const size_t bytes = job->k / format->elements * format->bytes;
    for (size_t done = 0; done < KERNELS_AHEAD && column < job->n; column++, done += bytes) {
        const char *row = param_source_blocks(job->stored, column);
        for (size_t at = 0; at < bytes; at += 64)
            __builtin_prefetch(row + at, 0, 2);
    }
}

static void run_task(const gemm_group *g, size_t job, size_t task, bool first, int worker)
{
    const gemm_split *s = &g->splits[job];
    size_t mr = (size_t)g->team->gemm->mr, nr = (size_t)g->team->gemm->nr;
    size_t row = task / s->column_tasks, column = task % s->column_tasks;
    gemm_part p = {.i = row * s->tiles / s->row_tasks * mr, .j = column * s->panels / s->column_tasks * nr, .worker = worker};
    p.m = MIN((row + 1) * s->tiles / s->row_tasks * mr, g->jobs[job].m) - p.i;
    p.n = MIN((column + 1) * s->panels / s->column_tasks * nr, g->jobs[job].n) - p.j;
    if (first && g->jobs[job].stored)
        fetch_stored(&g->jobs[job], p.j);
    do
        gemm_multiply_pieces(g->team, &g->jobs[job++], &p);
    while (job < g->count && g->jobs[job].accumulates_into_previous);
}

/* A thread's range of tasks (pool_range_start) covers the same share of every product, so that its rows stay in its cache. */
static void group_task(void *context, size_t index, int worker)
{
    const gemm_group *g = context;
    const pool *p = g->team->pool;
    for (size_t part = 0; part < (size_t)pool_threads(p); part++)
        for (size_t job = 0; job < g->count; job++) {
            size_t first = pool_range_start(p, g->tasks[job], part);
            size_t count = pool_range_start(p, g->tasks[job], part + 1) - first;
            if (index < count) {
                run_task(g, job, first + index, index == 0, worker);
                return;
            }
            index -= count;
        }
}

/* ---- packing shared by all tasks ----------------------------------------------------------------------------------- */

/* Operands B that several tasks of a group read: packed before them, by all threads, into the whole workspace. */
typedef struct gemm_packing {
    const gemm_team *team;
    gemm_job jobs[GEMM_MAX_JOBS];
    rapt_real *to[GEMM_MAX_JOBS];
    size_t panels[GEMM_MAX_JOBS]; /* panels of all K blocks of each job */
    size_t count;
} gemm_packing;

/* Whether the tasks of a job would pack a B that can be packed for all of them. */
static bool packs(const gemm_group *g, size_t job)
{
    const gemm_job *j = &g->jobs[job];
    const gemm_split *s = &g->splits[job];
    const kernels_gemm *kn = g->team->gemm;
    size_t max_rows = count_of(s->tiles, s->row_tasks) * (size_t)kn->mr; /* rows of the largest task */
    return !j->packed && !j->stored && !reads_in_place(kn, j, max_rows, j->n);
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
    size_t nr = (size_t)p->team->gemm->nr, panels = count_of(job->n, nr);
    size_t k0 = task / panels * KERNELS_K_BLOCK, j = task % panels * nr, kc = MIN(KERNELS_K_BLOCK, job->k - k0);
    const matrix panel = matrix_at(job->b, k0, j);
    panels_pack(p->team->gemm, kc, MIN(nr, job->n - j), &panel,
                p->to[i] + panels_at(p->team->gemm, job->n, k0, kc, j));
}

/* Whether both jobs have the same operand B. */
static bool shares_b(const gemm_job *a, const gemm_job *b)
{
    return a->b.data == b->b.data && a->b.row == b->b.row && a->b.col == b->b.col && a->k == b->k && a->n == b->n;
}

/* The packed size, in elements, of all operands B that tasks of the group would pack; *shared: several tasks would pack the same
 * operand. */
static size_t packed_size(const gemm_group *g, bool *shared)
{
    size_t size = 0;
    *shared = false;
    for (size_t i = 0; i < g->count; i++) {
        const gemm_job *job = &g->jobs[i];
        if (packs(g, i) && !(i > 0 && shares_b(job, &g->jobs[i - 1])))
            size += panels_size(g->team->gemm, job->k, job->n);
        *shared = *shared || (packs(g, i) && g->splits[i].row_tasks > 1);
    }
    return size;
}

/* Packs all operands B that tasks would pack, and sets `packed` of their jobs. */
static void pack_all(gemm_group *g, size_t size)
{
    const gemm_team *team = g->team;
    gemm_packing p = {.team = team};
    size_t panels = 0;
    rapt_real *next = team->workspace;
    for (size_t i = 0; i < g->count; i++) {
        gemm_job *job = &g->jobs[i];
        if (!packs(g, i))
            continue;
        if (i > 0 && g->jobs[i - 1].packed && shares_b(job, &g->jobs[i - 1])) {
            job->packed = g->jobs[i - 1].packed;
            continue;
        }
        p.jobs[p.count] = *job;
        p.to[p.count] = next;
        p.panels[p.count] = count_of(job->k, KERNELS_K_BLOCK) * count_of(job->n, (size_t)team->gemm->nr);
        panels += p.panels[p.count++];
        job->packed = next;
        next += panels_size(team->gemm, job->k, job->n);
    }
    pool_run(team->pool, panels, 4 * size, pack_task, &p);
}

/* ---- rows that are rounded for quantized weights ------------------------------------------------------------------- */

/* The size, in elements, of A packed. */
static size_t rounded_size(const kernels_gemm *kn, const gemm_job *job)
{
    return count_of(job->k, KERNELS_K_BLOCK) * job->m * (size_t)kn->a_row;
}

static bool shares_a(const gemm_job *a, const gemm_job *b)
{
    return a->a.data == b->a.data && a->a.row == b->a.row && a->a.col == b->a.col && a->m == b->m && a->k == b->k;
}

/* One row of A. */
static void round_task(void *context, size_t row, int worker)
{
    const gemm_packing *p = context;
    const kernels_gemm *kn = p->team->gemm;
    size_t i = 0;
    (void)worker;
    for (; row >= p->jobs[i].m; i++)
        row -= p->jobs[i].m;
    const gemm_job *job = &p->jobs[i];
    for (size_t k0 = 0, block = 0; k0 < job->k; k0 += KERNELS_K_BLOCK, block++) {
        const matrix a = matrix_at(job->a, row, k0);
        kn->pack_a(1, MIN(KERNELS_K_BLOCK, job->k - k0), a.data, a.row, a.col,
                   p->to[i] + (block * job->m + row) * (size_t)kn->a_row);
    }
}

/* Rounds the rows of all jobs once, into the workspace, instead of once for the columns of each task. Only if they fit, and if
 * the workspace is not needed for packing B. */
static void round_all(gemm_group *g)
{
    const gemm_team *team = g->team;
    gemm_packing p = {.team = team};
    rapt_real *next = team->workspace;
    size_t size = 0, rows = 0, work = 0;
    for (size_t i = 0; i < g->count; i++) {
        if (!g->jobs[i].stored && (!g->jobs[i].packed || g->splits[i].column_tasks == 1))
            return;
        size += i > 0 && shares_a(&g->jobs[i], &g->jobs[i - 1]) ? 0 : rounded_size(team->gemm, &g->jobs[i]);
    }
    if (size > gemm_workspace_size(pool_threads(team->pool)))
        return;
    for (size_t i = 0; i < g->count; i++) {
        gemm_job *job = &g->jobs[i];
        const bool shared = i > 0 && shares_a(job, &g->jobs[i - 1]);
        job->rounded = shared ? g->jobs[i - 1].rounded : next;
        if (shared)
            continue;
        p.jobs[p.count] = *job;
        p.to[p.count++] = next;
        rows += job->m;
        work += job->m * job->k;
        next += rounded_size(team->gemm, job);
    }
    pool_run(team->pool, rows, work, round_task, &p);
}

/* A product whose packed B exceeds the workspace: as many K blocks at a time as fit. */
static void multiply_in_blocks(const gemm_team *team, const gemm_job *job)
{
    size_t max_blocks = shared_capacity(team) / panels_size(team->gemm, KERNELS_K_BLOCK, job->n);
    size_t depth = job->packed || job->stored ? job->k : MIN((max_blocks > 0 ? max_blocks : 1) * KERNELS_K_BLOCK, job->k);
    for (size_t k0 = 0; k0 < job->k; k0 += depth) {
        gemm_job part = *job;
        bool last = k0 + depth >= job->k;
        part.k = last ? job->k - k0 : depth;
        part.a = matrix_at(job->a, 0, k0);
        part.b = matrix_at(job->b, k0, 0);
        part.epilogue = (kernels_epilogue){job->epilogue.accumulate || k0 > 0, last ? job->epilogue.bias : NULL,
                                           last && job->epilogue.relu};
        part.epilogue_fn = last ? job->epilogue_fn : NULL;
        gemm(team, &part);
    }
}

static void multiply_one_by_one(const gemm_team *team, const gemm_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gemm_job job = jobs[i];
        job.epilogue.accumulate = job.epilogue.accumulate || job.accumulates_into_previous;
        job.accumulates_into_previous = false;
        multiply_in_blocks(team, &job);
    }
}

void gemm_all(const gemm_team *team, const gemm_job *jobs, size_t count)
{
    gemm_group g = {.team = team, .count = count};
    size_t tasks = 0, work = 0;
    bool shared;
    for (size_t i = 0; i < count; i++) {
        g.jobs[i] = jobs[i];
        g.splits[i] = choose_split(team, &jobs[i]);
        g.tasks[i] = jobs[i].accumulates_into_previous ? 0 : g.splits[i].row_tasks * g.splits[i].column_tasks;
        tasks += g.tasks[i];
        work += jobs[i].m * jobs[i].n * jobs[i].k / 8;
    }
    size_t size = packed_size(&g, &shared);
    bool fits = size <= shared_capacity(team);
    if (team->gemm->a_row)
        round_all(&g);
    if (shared && fits)
        pack_all(&g, size);
    if (shared && !fits && team->gemm->pair > 1 && (count > 1 || jobs->k > KERNELS_K_BLOCK))
        multiply_one_by_one(team, jobs, count);
    else
        pool_run(team->pool, tasks, work, group_task, &g);
}

void gemm(const gemm_team *team, const gemm_job *job)
{
    gemm_all(team, job, 1);
}

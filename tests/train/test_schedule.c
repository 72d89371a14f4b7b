/* tests/train/test_schedule.c: the learning rate of each step against the definitions of PyTorch and transformers. For
 * src/train/optimizer/schedule.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/optimizer/schedule.h"

#include <math.h>

static void assert_near(double value, double wanted, double most)
{
    if (!(fabs(value - wanted) <= most))
        fail_msg("%.17g, not %.17g", value, wanted);
}

#define PI 3.14159265358979323846

static rapt_recipe recipe_of(int schedule, int64_t warmup, double lr_end)
{
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    r.train.schedule = schedule;
    r.train.lr = 0.01;
    r.train.lr_end = lr_end;
    r.train.warmup = warmup;
    return r;
}

/* torch.optim.lr_scheduler.CosineAnnealingLR(T_max=total, eta_min): its step t, from 0, is step t + 1 here. */
static void without_warmup_it_is_that_of_pytorch(void **state)
{
    (void)state;
    const rapt_recipe r = recipe_of(RAPT_RECIPE_SCHEDULE_COSINE, 0, 0.001);
    for (int t = 0; t < 10; t++)
        assert_near(rapt_learning_rate(&r, (uint64_t)t + 1, 10), 0.001 + 0.009 * (1 + cos(PI * t / 10)) / 2, 1e-15);
}

/* transformers' get_cosine_schedule_with_warmup(num_warmup_steps=3, num_training_steps=10), whose first step at the full rate is
 * t = 3: the fourth, which is what train.warmup counts. */
static void with_warmup_it_is_that_of_transformers(void **state)
{
    (void)state;
    const rapt_recipe r = recipe_of(RAPT_RECIPE_SCHEDULE_COSINE, 4, 0);
    for (int t = 3; t < 10; t++)
        assert_near(rapt_learning_rate(&r, (uint64_t)t + 1, 10), 0.01 * (1 + cos(PI * (t - 3) / 7)) / 2, 1e-15);
    for (int step = 1; step < 4; step++)
        assert_near(rapt_learning_rate(&r, (uint64_t)step, 10), 0.01 * step / 4, 1e-15);
}

/* transformers' get_linear_schedule_with_warmup, and from an initial rate to lr_end torch's LinearLR. */
static void a_line_is_that_of_transformers(void **state)
{
    (void)state;
    const rapt_recipe r = recipe_of(RAPT_RECIPE_SCHEDULE_LINEAR, 4, 0), low = recipe_of(RAPT_RECIPE_SCHEDULE_LINEAR, 0, 0.001);
    for (int t = 3; t < 10; t++)
        assert_near(rapt_learning_rate(&r, (uint64_t)t + 1, 10), 0.01 * (10 - t) / 7, 1e-15);
    for (int t = 0; t < 10; t++)
        assert_near(rapt_learning_rate(&low, (uint64_t)t + 1, 10), 0.01 + (0.001 - 0.01) * t / 10, 1e-15);
}

/* torch.optim.lr_scheduler.ReduceLROnPlateau(factor, min_lr); its rate is never reduced where no report is. */
static void reductions_have_an_end(void **state)
{
    (void)state;
    rapt_recipe r = recipe_of(RAPT_RECIPE_SCHEDULE_PLATEAU, 4, 0.003);
    r.train.plateau.factor = 0.6;
    static const double rates[] = {0.01, 0.006, 0.0036, 0.003, 0.003};
    for (uint64_t i = 0; i < 5; i++) {
        assert_near(schedule_rate(&r, 7, 10, i), rates[i], 1e-15);
        assert_near(schedule_rate(&r, 2, 10, i), 0.005, 1e-15); /* of the warmup */
    }
    assert_near(rapt_learning_rate(&r, 7, 10), 0.01, 0);
    r.train.lr_end = 0;
    assert_near(schedule_rate(&r, 7, 10, UINT64_MAX), 0, 1e-300); /* soon: the least number above 0 stays itself */
    r.train.lr_end = 0.02; /* not below it already */
    assert_near(schedule_rate(&r, 7, 10, 3), 0.01, 0);
    r = recipe_of(RAPT_RECIPE_SCHEDULE_COSINE, 4, 0);
    assert_near(schedule_rate(&r, 7, 10, 3), rapt_learning_rate(&r, 7, 10), 0);
}

static void each_step_trains(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 40; i++) {
        const rapt_recipe r = recipe_of(i % 2 ? RAPT_RECIPE_SCHEDULE_LINEAR : RAPT_RECIPE_SCHEDULE_COSINE, i / 2, 0);
        for (uint64_t total = 1; total < 20; total++)
            for (uint64_t step = 1; step <= total; step++)
                assert_true(rapt_learning_rate(&r, step, total) > 0 && rapt_learning_rate(&r, step, total) <= 0.01);
    }
    const rapt_recipe one = recipe_of(RAPT_RECIPE_SCHEDULE_COSINE, 0, 0);
    assert_near(rapt_learning_rate(&one, 1, 1), 0.01, 0);
    assert_near(rapt_learning_rate(&one, 2, 1), 0, 1e-18); /* behind the last step */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_warmup_it_is_that_of_pytorch),
        cmocka_unit_test(with_warmup_it_is_that_of_transformers),
        cmocka_unit_test(a_line_is_that_of_transformers),
        cmocka_unit_test(reductions_have_an_end),
        cmocka_unit_test(each_step_trains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

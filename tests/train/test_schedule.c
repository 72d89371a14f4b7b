/* tests/train/test_schedule.c: the learning rate of each step against the definitions of PyTorch and transformers. For
 * src/train/optimizer/schedule.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rapt/train.h"

#include <math.h>

static void assert_near(double value, double wanted, double most)
{
    if (!(fabs(value - wanted) <= most))
        fail_msg("%.17g, not %.17g", value, wanted);
}

#define PI 3.14159265358979323846

static rapt_recipe cosine_recipe(int64_t warmup, double lr_end)
{
    rapt_recipe r;
    rapt_recipe_defaults(&r);
    r.train.schedule = RAPT_RECIPE_SCHEDULE_COSINE;
    r.train.lr = 0.01;
    r.train.lr_end = lr_end;
    r.train.warmup = warmup;
    return r;
}

/* torch.optim.lr_scheduler.CosineAnnealingLR(T_max=total, eta_min): its step t, from 0, is step t + 1 here. */
static void without_warmup_it_is_that_of_pytorch(void **state)
{
    (void)state;
    const rapt_recipe r = cosine_recipe(0, 0.001);
    for (int t = 0; t < 10; t++)
        assert_near(rapt_learning_rate(&r, (uint64_t)t + 1, 10), 0.001 + 0.009 * (1 + cos(PI * t / 10)) / 2, 1e-15);
}

/* transformers' get_cosine_schedule_with_warmup(num_warmup_steps=3, num_training_steps=10), whose first step at the full rate is
 * t = 3: the fourth, which is what train.warmup counts. */
static void with_warmup_it_is_that_of_transformers(void **state)
{
    (void)state;
    const rapt_recipe r = cosine_recipe(4, 0);
    for (int t = 3; t < 10; t++)
        assert_near(rapt_learning_rate(&r, (uint64_t)t + 1, 10), 0.01 * (1 + cos(PI * (t - 3) / 7)) / 2, 1e-15);
    for (int step = 1; step < 4; step++)
        assert_near(rapt_learning_rate(&r, (uint64_t)step, 10), 0.01 * step / 4, 1e-15);
}

static void each_step_trains(void **state)
{
    (void)state;
    for (int64_t warmup = 0; warmup < 20; warmup++) {
        const rapt_recipe r = cosine_recipe(warmup, 0);
        for (uint64_t total = 1; total < 20; total++)
            for (uint64_t step = 1; step <= total; step++)
                assert_true(rapt_learning_rate(&r, step, total) > 0 && rapt_learning_rate(&r, step, total) <= 0.01);
    }
    const rapt_recipe one = cosine_recipe(0, 0);
    assert_near(rapt_learning_rate(&one, 1, 1), 0.01, 0);
    assert_near(rapt_learning_rate(&one, 2, 1), 0, 1e-18); /* behind the last step */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_warmup_it_is_that_of_pytorch),
        cmocka_unit_test(with_warmup_it_is_that_of_transformers),
        cmocka_unit_test(each_step_trains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

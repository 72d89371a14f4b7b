/* tests/train/test_checkpoint_clock.c: when a checkpoint is due by the clock, with times that are made up, and that checkpoints
 * at any steps leave the same model. That a run keeps to it is in tests/cli/check_clock.sh. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "train/train_folder.h"

#include "train/checkpoint/checkpoint_clock.h"

static void ten_seconds(void **state)
{
    (void)state;
    checkpoint_clock c = {.last = 1000};
    assert_false(checkpoint_clock_due(&c, 1000) || checkpoint_clock_due(&c, 1009.9));
    assert_true(checkpoint_clock_due(&c, 1010.1));
    checkpoint_clock_written(&c, 1010.1, 1010.5); /* 0.4 s, 20 times that are 8 */
    assert_false(checkpoint_clock_due(&c, 1020.4));
    assert_true(checkpoint_clock_due(&c, 1020.6));
}

static void a_twentieth_of_the_time(void **state)
{
    (void)state;
    checkpoint_clock c = {.last = 0};
    double now = 0, writing = 0;
    checkpoint_clock_written(&c, 0, 3);
    assert_false(checkpoint_clock_due(&c, 62.9));
    assert_true(checkpoint_clock_due(&c, 63.1));
    for (int i = 0; i < 10000; i++) { /* steps of a second; a write takes 1.5 to 4.5 s */
        now += 1;
        if (checkpoint_clock_due(&c, now)) {
            double cost = 1.5 + 0.1 * (i % 31);
            checkpoint_clock_written(&c, now, now + cost);
            now += cost;
            writing += cost;
        }
    }
    assert_true(writing > 0.03 * now && writing <= 0.05 * now);
}

/* With rows that are behind, which a checkpoint brings up to date (kinds.txt), and without. */
static void steps_of_checkpoints_change_nothing(void **state)
{
    (void)state;
    static const char *const variants[] = {"data.text=kinds.txt train.weight_decay=0.1 train.checkpoint_every=",
                                           "train.checkpoint_every="};
    put_words("text.txt", 600);
    put_many_kinds("kinds.txt", 3000, 700);
    for (size_t i = 0; i < 2; i++) {
        static const char *const every[] = {"1000", "1", "7", "0"};
        char changes[128], names[4][16];
        for (size_t j = 0; j < 4; j++) {
            snprintf(changes, sizeof changes, "%s%s", variants[i], every[j]);
            snprintf(names[j], sizeof names[j], "m%zu-%s", i, every[j]);
            train(changes, (rapt_train_options){.out = names[j]});
            assert_true(same_parameters(names[0], names[j]));
            assert_same_log(names[0], names[j]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_seconds),
        cmocka_unit_test(a_twentieth_of_the_time),
        IN_FOLDER(steps_of_checkpoints_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

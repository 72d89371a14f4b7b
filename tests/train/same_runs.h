/* tests/train/same_runs.h: that the bytes of runs depend neither on threads nor on stops, for the tests that have recipes of
 * their own: changes of lm_recipe, whose runs take 24 steps and keep a checkpoint of each sixth. To be included after
 * train_folder.h, in a folder of the test. */
#ifndef TESTS_TRAIN_SAME_RUNS_H
#define TESTS_TRAIN_SAME_RUNS_H

/* With 1 thread, with 2 and with `most`; changes of all recipes stand in `of_all`, which says how many steps there are. */
static inline void assert_same_with_threads(const char *of_all, const char *const *recipes, unsigned count, int most,
                                            unsigned steps)
{
    put_texts();
    for (unsigned i = 0; i < count; i++) {
        char changes[512], one[32], more[48];
        snprintf(changes, sizeof changes, "%s %s", of_all, recipes[i]);
        snprintf(one, sizeof one, "one%u", i);
        train(changes, (rapt_train_options){.out = one, .threads = 1});
        for (int threads = 2; threads <= most; threads += most - 2) {
            snprintf(more, sizeof more, "threads%u-%d", i, threads);
            train(changes, (rapt_train_options){.out = more, .threads = threads});
            assert_same_model(one, more);
            assert_same_checkpoint(one, more, steps);
        }
    }
}

/* Stopped at a checkpoint and beside one. */
static inline void assert_same_resumed(const char *const *recipes, unsigned count)
{
    put_texts();
    for (unsigned i = 0; i < count; i++) {
        char whole[32], parts[32];
        snprintf(whole, sizeof whole, "whole%u", i);
        snprintf(parts, sizeof parts, "parts%u", i);
        train(recipes[i], (rapt_train_options){.out = whole});
        train(recipes[i], (rapt_train_options){.out = parts, .max_steps = 7});
        train(recipes[i], (rapt_train_options){.out = parts, .max_steps = 18, .resume = true, .threads = 3});
        train(recipes[i], (rapt_train_options){.out = parts, .resume = true});
        assert_same_model(whole, parts);
        assert_same_checkpoint(whole, parts, 18);
        assert_same_checkpoint(whole, parts, 24);
    }
}

#endif

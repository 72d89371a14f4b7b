/* tests/io/test_model_former.c: config.json of version 0.1 calls norm_place "norm"; both are read, the new one is written.
 * For src/io/config_json.c. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/model_folder.h"

#include <string.h>

/* Saves a model, and puts other text in place of the member norm_place; `text` of the same length. */
static rapt_model *reloaded(rapt_model *m, const char *text, rapt_error *err)
{
    char *config, *place;
    size_t size;
    save(m);
    must(file_read(folder_in("config.json"), 1 << 20, &config, &size, err), err);
    place = strstr(config, "\"norm_place\": \"pre\"");
    assert_non_null(place);
    memcpy(place, text, strlen(text));
    write_file("config.json", config, size);
    free(config);
    rapt_model_free(m);
    return rapt_model_load(folder_path, NULL, err);
}

static rapt_model *of_task(rapt_task task)
{
    if (task == RAPT_TASK_TRANSLATION) {
        rapt_model *m = translation_model();
        m->translation.net->config.block.norm_place = RAPT_NORM_PLACE_PRE;
        return m;
    }
    rapt_lm_config c = lm_variant(24);
    c.block.norm_place = RAPT_NORM_PLACE_PRE;
    return language_model(&c, characters('!', c.vocab));
}

static void language_models(void **state)
{
    (void)state;
    rapt_error err = {0};
    rapt_model *m = reloaded(of_task(RAPT_TASK_LANGUAGE_MODEL), "\"norm\":       \"pre\"", &err);
    must(err.code, &err);
    assert_int_equal(m->language.net->config.block.norm_place, RAPT_NORM_PLACE_PRE);
    rapt_model_free(m);
}

static void neither_is_an_error(void **state)
{
    (void)state;
    for (int task = 0; task < 2; task++) {
        rapt_error err = {0};
        assert_null(reloaded(of_task((rapt_task)task), "\"norm_plaza\": \"pre\"", &err));
        assert_non_null(strstr(err.message, "\"norm_place\" is missing"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(language_models, empty_folder),
        cmocka_unit_test_teardown(neither_is_an_error, empty_folder),
    };
    return cmocka_run_group_tests(tests, folder_make, remove_folder);
}

/* cli/cli_model.h: models for commands: loaded, with a note on stderr where nothing binds a folder's files to each other. */
#ifndef CLI_CLI_MODEL_H
#define CLI_CLI_MODEL_H

#include "rapt/io.h"

/* rapt_model_load_with of a language model or a translator, encoders being refused: for training or inference, the same with
 * --adapter (NULL: none); and of one task. */
rapt_model *cli_model(const char *folder, rapt_error *err);
rapt_model *cli_model_any_inference(const char *folder, rapt_error *err);
rapt_model *cli_model_adapted(const char *folder, const char *adapter, bool inference, rapt_error *err);
rapt_model *cli_model_inference(const char *folder, const char *adapter, rapt_task task, rapt_error *err);

/* Puts why a model of another task does not fit in place of *err, of which that is the deeper reason; else leaves it. */
void cli_model_refuse_other_task(const char *folder, rapt_task task, rapt_error *err);

/* --context: a language model sees at most `context` tokens from now on; 0, or more than its own context: as many as before. */
void cli_model_limit_context(rapt_model *m, long context);

/* The note by itself, of a folder that the library will load; nothing where it can't be read. */
void cli_note_seal(const char *folder);

#endif

/* cli/cli_model.h: loads models for commands, with a note on stderr if nothing binds a folder's files to each other. */
#ifndef CLI_CLI_MODEL_H
#define CLI_CLI_MODEL_H

#include "rapt/io.h"

#include "cli/cli.h"

/* rapt_model_load for commands. They load a language model or a translator, and refuse encoders: the first two for training
 * and for inference; the third with --adapter, NULL for no adapter; the last also refuses models of other tasks than `task`. */
rapt_model *cli_model(const char *folder, rapt_error *err);
rapt_model *cli_model_any_inference(const char *folder, rapt_error *err);
rapt_model *cli_model_adapted(const char *folder, const char *adapter, bool inference, rapt_error *err);
rapt_model *cli_model_inference(const char *folder, const char *adapter, rapt_task task, rapt_error *err);

/* The model with the heads of --without-head switched off; it owns m, which is freed after a failure. m itself if there are none;
 * NULL if m is NULL. */
rapt_model *cli_model_without(rapt_model *m, const cli_heads *heads, rapt_error *err);

/* If there is no such folder, or it has a model of another task, that is the deeper reason of *err: the message then says so
 * instead. Otherwise *err stays. */
void cli_model_deeper_reason(const char *folder, rapt_task task, rapt_error *err);

/* --context: a language model sees at most `context` tokens from now on; 0, or more than its own context: as many as before. */
void cli_model_limit_context(rapt_model *m, long long context);

/* Only the note, for a folder that the library will load; nothing if the folder can't be read. */
void cli_note_seal(const char *folder);

#endif

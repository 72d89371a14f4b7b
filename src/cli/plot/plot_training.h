/* cli/plot/plot_training.h: the training curves of a model folder, for `rapt train --plot`. */
#ifndef CLI_PLOT_PLOT_TRAINING_H
#define CLI_PLOT_PLOT_TRAINING_H

#include "rapt/base.h"

typedef struct plot_training_request {
    const char *folder, *out; /* whose train.jsonl; the picture, PNG or SVG by its ending */
    bool book;                /* loss_book, the curve that the book draws, in place of loss and val_loss */
    bool by_epoch;            /* false: by step */
} plot_training_request;

/* Draws the curves of the lines so far, as `rapt plot training` does; the picture is replaced as a whole. Errors: as draw_curves,
 * or from reading the log. */
rapt_code plot_training_picture(const plot_training_request *q, rapt_error *err);

#endif

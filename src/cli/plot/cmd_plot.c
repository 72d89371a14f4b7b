/* cli/plot/cmd_plot.c: `rapt plot`: the table of pictures. Each picture is a file plot_NAME.c; the options that all of them
 * share are in plot_options.c; pictures are drawn in src/view. */
#include "cli/plot/cmd_plot.h"

#include "cli/commands.h"

static const cli_subcommand PARTS[] = {{"attention", plot_attention, &plot_attention_command},
                                       {"positions", plot_positions, &plot_positions_command},
                                       {"similarity", plot_similarity, &plot_similarity_command},
                                       {"embedding", plot_embedding, &plot_embedding_command},
                                       {"training", plot_training, &plot_training_command},
                                       {"table", plot_table, &plot_table_command}};
const cli_subcommands plot_parts = {
    PARTS, sizeof PARTS / sizeof *PARTS, "`attention`, `positions`, `similarity`, `embedding`, `training` or `table`",
    "WHAT [OPTION...] ... -o FILE",
    "Plot the inside of a model, or its training, as PNG or SVG.",
    "WHAT comes first:\n"
    "  attention MODEL TEXT        attention weights of each head as heat maps\n"
    "  positions [MODEL]           positional encoding: the book's, or a model's\n"
    "  similarity [MODEL]          cosine similarity of positions\n"
    "  embedding MODEL WORD...     word embeddings, projected to two dimensions\n"
    "  training FOLDER...          training curves: losses, or fields of train.jsonl\n"
    "  table FILE                  any table of numbers as a heat map\n\n"
    "Each has a --help of its own. With --data instead of -o FILE the values are printed; the values of one heat map "
    "can be read by `rapt plot table --names`."};

int cmd_plot(int argc, char **argv)
{
    return subcommands_run(&plot_parts, argc, argv);
}

/* cli/info_cluster.h: the table of `rapt info RECIPE --cluster`. */
#ifndef CLI_INFO_CLUSTER_H
#define CLI_INFO_CLUSTER_H

#include "cli/cmd_info.h"
#include "rapt/train.h"

/* Prints the time, traffic and memory of a training step on 1 to 1,024 machines, as text or JSON. Returns the exit status. */
int info_cluster(const info_arguments *a, const rapt_recipe *k, const rapt_memory_plan *plan);

#endif

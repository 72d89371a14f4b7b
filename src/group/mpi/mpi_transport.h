/* group/mpi/mpi_transport.h: the messages of an MPI as a transport. For the program, which finds the function by its name in the
 * module of the MPI that has started it, and for the simulation of bench/, which is compiled with it. */
#ifndef GROUP_MPI_MPI_TRANSPORT_H
#define GROUP_MPI_MPI_TRANSPORT_H

#include "rapt/group.h"

/* All ranks that the launcher has started. One group at a time, and one in the life of a process: MPI begins and ends once.
 * `name` is set: "Open MPI 4.1.4". */
RAPT_API const rapt_transport *mpi_transport(void);

#endif

# The modules rapt_mpi_openmpi.so and rapt_mpi_mpich.so: mpi_transport.c, compiled for each MPI that is installed here. An MPI
# tells by its compiler's wrapper what it wants: mpicc.openmpi and mpicc.mpich, where Debian has both, else mpicc, whose header
# says which it is. Other MPIs count as the one whose interface theirs is: Intel's and MVAPICH as MPICH.
set(RAPT_MPI_MODULES "")

# What `wrapper -show` prints: the compiler's name, then flags.
function(mpi_flags wrapper compile link)
    set(compile_flags "")
    set(link_flags "")
    execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE shown ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(shown UNIX_COMMAND "${shown}")
    list(POP_FRONT shown)
    foreach(flag ${shown})
        if(flag MATCHES "^-(I|D|isystem)")
            list(APPEND compile_flags ${flag})
        elseif(flag MATCHES "^-(L|l|Wl,|pthread)|\\.(so|a)$")
            list(APPEND link_flags ${flag})
        endif()
    endforeach()
    set(${compile} "${compile_flags}" PARENT_SCOPE)
    set(${link} "${link_flags}" PARENT_SCOPE)
endfunction()

# `macro`: what its mpi.h defines.
function(mpi_module name macro)
    find_program(MPICC_${name} NAMES mpicc.${name} mpicc)
    mark_as_advanced(MPICC_${name})
    if(NOT MPICC_${name})
        return()
    endif()
    mpi_flags(${MPICC_${name}} compile link)
    set(CMAKE_REQUIRED_FLAGS "")
    set(CMAKE_REQUIRED_QUIET ON)
    list(JOIN compile " " CMAKE_REQUIRED_FLAGS)
    set(CMAKE_REQUIRED_LIBRARIES ${link})
    check_c_source_compiles("#include <mpi.h>\n#ifndef ${macro}\n#error\n#endif
        int main(void) { return MPI_Finalize(); }" HAVE_MPI_${name})
    if(NOT HAVE_MPI_${name}) # asked again the next time: it may be installed by then
        unset(HAVE_MPI_${name} CACHE)
        unset(MPICC_${name} CACHE)
        return()
    endif()
    add_library(rapt_mpi_${name} MODULE src/group/mpi/mpi_transport.c)
    target_include_directories(rapt_mpi_${name} PRIVATE include src)
    target_compile_options(rapt_mpi_${name} PRIVATE ${compile} ${SMALL})
    target_link_libraries(rapt_mpi_${name} PRIVATE ${link})
    rapt_module(rapt_mpi_${name} mpi_transport)
    set(RAPT_MPI_MODULES ${RAPT_MPI_MODULES} rapt_mpi_${name} PARENT_SCOPE)
endfunction()

if(NOT CMAKE_CROSSCOMPILING)
    mpi_module(openmpi OPEN_MPI)
    mpi_module(mpich MPICH_VERSION)
endif()
if(NOT RAPT_MPI_MODULES)
    message(STATUS "rapt train on several machines is off: it needs an MPI (on Debian openmpi-bin and libopenmpi-dev, or mpich "
        "and libmpich-dev)")
endif()

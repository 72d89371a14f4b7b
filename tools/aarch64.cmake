# tools/aarch64.cmake: builds for AArch64 on another machine, with Debian's cross compiler, and runs tests in an emulator:
#   tools/arm64_root.sh build-arm/root
#   cmake -S . -B build-arm -DCMAKE_TOOLCHAIN_FILE=tools/aarch64.cmake -DRAPT_TESTS=ON
# RAPT_ROOT names another folder of libraries. Those of the machine are not looked at.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

if(NOT RAPT_ROOT)
    set(RAPT_ROOT ${CMAKE_BINARY_DIR}/root)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RAPT_ROOT) # trials have another CMAKE_BINARY_DIR
if(NOT EXISTS ${RAPT_ROOT}/complete)
    message(FATAL_ERROR "no libraries for AArch64 in ${RAPT_ROOT}; this makes them: tools/arm64_root.sh ${RAPT_ROOT}")
endif()
set(CMAKE_SYSROOT ${RAPT_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${RAPT_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${RAPT_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${RAPT_ROOT})

# tools/i686.cmake: compiles the library for 32-bit processors, to see that no size is wider than a size_t. Programs are not
# linked: the libraries of the machine are 64-bit. It needs libc6-dev-i386.
#   cmake -S . -B build-m32 -DCMAKE_TOOLCHAIN_FILE=tools/i686.cmake && cmake --build build-m32 --target rapt_objects
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_FLAGS_INIT "-m32 -idirafter /usr/include/x86_64-linux-gnu") # for asm/, which is the same
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

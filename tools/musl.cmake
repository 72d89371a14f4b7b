# tools/musl.cmake: compiles the library against musl, to see that it asks nothing of glibc. Programs are not linked: the
# libraries of the machine are glibc's, whose headers serve, behind musl's own. It needs musl-tools.
#   cmake -S . -B build-musl -DCMAKE_TOOLCHAIN_FILE=tools/musl.cmake && cmake --build build-musl --target rapt_objects
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_C_FLAGS_INIT "-idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu")

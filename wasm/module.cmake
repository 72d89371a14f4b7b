# rapt.js and rapt.wasm: the library for JavaScript, where CMake is configured with emscripten: tools/wasm.sh.
add_executable(rapt_module wasm/module.c)
target_compile_options(rapt_module PRIVATE ${SMALL} -D_GNU_SOURCE)
target_link_libraries(rapt_module PRIVATE rapt_internal)
# Debian has what the linker asks node for in this folder, which the node of others does not look into.
set_target_properties(rapt_module PROPERTIES OUTPUT_NAME rapt
    C_LINKER_LAUNCHER "${CMAKE_COMMAND};-E;env;NODE_PATH=/usr/share/nodejs")
# One factory, which takes the module's bytes, so that a page can have them within; files in memory; memory that grows.
target_link_options(rapt_module PRIVATE -Os --no-entry -sMODULARIZE=1 -sEXPORT_NAME=createRapt -sENVIRONMENT=web,worker,node
    -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=1MB -sFORCE_FILESYSTEM=1 -sSTRICT=1
    -sALLOW_UNIMPLEMENTED_SYSCALLS=1 "-sEXPORTED_RUNTIME_METHODS=[ccall,cwrap,FS,UTF8ToString]")

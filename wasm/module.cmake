# rapt.js and rapt.wasm: the library for JavaScript, where CMake is configured with emscripten: tools/wasm.sh.
add_executable(rapt_module wasm/module.c)
target_compile_options(rapt_module PRIVATE ${SMALL} -D_GNU_SOURCE)
target_link_libraries(rapt_module PRIVATE rapt_internal)
# Debian has what the linker asks node for in this folder, which the node of others does not look into.
set_target_properties(rapt_module PROPERTIES OUTPUT_NAME rapt
    C_LINKER_LAUNCHER "${CMAKE_COMMAND};-E;env;NODE_PATH=/usr/share/nodejs")
# Relaxed SIMD as the standard numbers it, and where it is (relaxed.mjs).
function(rapt_relaxed target)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
        COMMAND node ${CMAKE_SOURCE_DIR}/wasm/relaxed.mjs $<TARGET_FILE_DIR:${target}>/$<TARGET_FILE_BASE_NAME:${target}>.wasm)
endfunction()
rapt_relaxed(rapt_module)
# One factory, which takes the module's bytes, so that a page can have them within; files in memory; memory that grows.
target_link_options(rapt_module PRIVATE -Os --no-entry -sMODULARIZE=1 -sEXPORT_NAME=createRapt -sENVIRONMENT=web,worker,node
    -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=1MB -sFORCE_FILESYSTEM=1 -sSTRICT=1
    -sALLOW_UNIMPLEMENTED_SYSCALLS=1 "-sEXPORTED_RUNTIME_METHODS=[ccall,cwrap,ENV,FS,UTF8ToString]")

# Kernels at each level, in node. Debian's emscripten 3.1.6 asks node for a function that later ones have in another form.
if(RAPT_TESTS)
    enable_testing()
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
    file(GLOB KERNEL_CHECKS CONFIGURE_DEPENDS tests/kernels/check*.c)
    add_executable(check_kernels ${KERNEL_CHECKS} wasm/fmaf.c)
    target_include_directories(check_kernels PRIVATE src tests)
    target_link_libraries(check_kernels PRIVATE rapt_internal PkgConfig::CMOCKA)
    target_compile_options(check_kernels PRIVATE -O0) # clang 14 makes f32.max of `0 > x ? 0 : x`, wrong for -0 (vec_portable.h)
    target_link_options(check_kernels PRIVATE -O1 -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=4MB -sENVIRONMENT=node -sEXIT_RUNTIME=1)
    rapt_relaxed(check_kernels)
    add_test(NAME check_kernels COMMAND check_kernels)
endif()

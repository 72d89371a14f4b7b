# rapt_wasm_module(TARGET NAME): NAME.js and NAME.wasm of an executable, where CMake is configured with emscripten: tools/wasm.sh. One
# factory, createRapt, which takes the module's bytes, so that a page can have them within; files in memory; memory that grows.
function(rapt_wasm_module target name)
    target_compile_options(${target} PRIVATE ${SMALL} -D_GNU_SOURCE)
    target_link_libraries(${target} PRIVATE rapt_internal)
    # Debian has what the linker asks node for in this folder, which the node of others does not look into.
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
        C_LINKER_LAUNCHER "${CMAKE_COMMAND};-E;env;NODE_PATH=/usr/share/nodejs")
    target_link_options(${target} PRIVATE -Os --no-entry -sMODULARIZE=1 -sEXPORT_NAME=createRapt -sENVIRONMENT=web,worker,node
        -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=1MB -sFORCE_FILESYSTEM=1 -sSTRICT=1
        -sALLOW_UNIMPLEMENTED_SYSCALLS=1 "-sEXPORTED_RUNTIME_METHODS=[ccall,cwrap,ENV,FS,UTF8ToString]")
    rapt_relaxed(${target})
endfunction()

# Relaxed SIMD as the standard numbers it, and where it is (relaxed.mjs).
function(rapt_relaxed target)
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
        COMMAND node ${CMAKE_SOURCE_DIR}/wasm/relaxed.mjs $<TARGET_FILE_DIR:${target}>/$<TARGET_FILE_BASE_NAME:${target}>.wasm)
endfunction()

# The library for JavaScript.
add_executable(rapt_module wasm/module.c)
rapt_wasm_module(rapt_module rapt)

# What the page of the lesson computes (tools/lesson.sh), which must be small: its kernels are those of fp32 alone, before which the
# library's are not linked.
file(GLOB LESSON_SOURCES CONFIGURE_DEPENDS src/lesson/*.c)
set(LESSON_KERNELS src/kernels/kernels.c src/kernels/scalar.c src/kernels/wasm/simd128.c src/kernels/wasm/relaxed.c)
add_library(lesson_kernels OBJECT ${LESSON_KERNELS})
target_include_directories(lesson_kernels PRIVATE include src)
target_compile_definitions(lesson_kernels PRIVATE RAPT_FP32_ONLY)
target_compile_options(lesson_kernels PRIVATE -Wno-unused-function -Wno-unused-const-variable)
add_executable(rapt_lesson ${LESSON_SOURCES} $<TARGET_OBJECTS:lesson_kernels>)
target_include_directories(rapt_lesson PRIVATE src)
rapt_wasm_module(rapt_lesson lesson)
target_link_options(rapt_lesson PRIVATE -sDYNAMIC_EXECUTION=0 # the page's policy forbids it
    "-sEXPORTED_FUNCTIONS=[_lesson_new,_lesson_start,_lesson_step,_lesson_save,_lesson_heads,_lesson_look,_lesson_next,_lesson_draw,_lesson_page,_free]")

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

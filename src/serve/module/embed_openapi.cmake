# embed_openapi.cmake: openapi.json as an array of bytes. Included by CMakeLists.txt it adds the rule that makes openapi_text.c,
# and sets OPENAPI_SOURCE to it; run by that rule, with OUT and DIR, it makes it.
if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(OPENAPI_SOURCE ${CMAKE_BINARY_DIR}/openapi_text.c)
    add_custom_command(OUTPUT ${OPENAPI_SOURCE} VERBATIM
        DEPENDS ${CMAKE_CURRENT_LIST_FILE} ${CMAKE_CURRENT_LIST_DIR}/openapi.json
        COMMAND ${CMAKE_COMMAND} -DOUT=${OPENAPI_SOURCE} -DDIR=${CMAKE_CURRENT_LIST_DIR} -P ${CMAKE_CURRENT_LIST_FILE})
    return()
endif()

file(READ ${DIR}/openapi.json hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "/* Made from src/serve/module/openapi.json by embed_openapi.cmake. */\n"
    "#include \"serve/module/embedded.h\"\n\nconst unsigned char openapi_text[] = {\n${bytes}};\n"
    "const size_t openapi_text_size = sizeof openapi_text;\n")

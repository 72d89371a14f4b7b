# embed.cmake: the page inside the library. Included by CMakeLists.txt it adds the rule that makes page_parts.c (see
# explain/page/page_parts.h) out of the files in this folder, and gives it to the library; run by that rule, with OUT and DIR, it
# makes it. CMake does it alone: html, style and scripts as hexadecimal digits, put together, cut where the data belong.
set(PAGE_SCRIPTS strings language dom data numbers parts colors heat_draw heat training attention sentence diagram steps backward main)

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(PAGE_FILES ${CMAKE_CURRENT_LIST_FILE} ${CMAKE_CURRENT_LIST_DIR}/page.html ${CMAKE_CURRENT_LIST_DIR}/page.css)
    foreach(script ${PAGE_SCRIPTS})
        list(APPEND PAGE_FILES ${CMAKE_CURRENT_LIST_DIR}/${script}.js)
    endforeach()
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/page_parts.c DEPENDS ${PAGE_FILES} VERBATIM
        COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/page_parts.c -DDIR=${CMAKE_CURRENT_LIST_DIR} -P ${CMAKE_CURRENT_LIST_FILE})
    target_sources(rapt_objects PRIVATE ${CMAKE_BINARY_DIR}/page_parts.c)
    return()
endif()

# What ends a script would end it inside the page too, wherever it stands.
function(read_hex name variable)
    file(READ ${DIR}/${name} text)
    if(text MATCHES "</(script|style)" AND NOT name STREQUAL "page.html")
        message(FATAL_ERROR "${DIR}/${name}: must not contain </script or </style")
    endif()
    file(READ ${DIR}/${name} hex HEX)
    set(${variable} "${hex}" PARENT_SCOPE)
endfunction()

read_hex(page.html page)
read_hex(page.css style)
set(scripts "")
foreach(script ${PAGE_SCRIPTS})
    read_hex(${script}.js hex)
    string(APPEND scripts "${hex}")
endforeach()
foreach(name style script data)
    string(HEX "@${name}@" mark_${name})
endforeach()
string(REPLACE "${mark_style}" "${style}" page "${page}")
string(REPLACE "${mark_script}" "${scripts}" page "${page}")
string(FIND "${page}" "${mark_data}" at)
string(LENGTH "${mark_data}" length)
string(SUBSTRING "${page}" 0 ${at} head)
math(EXPR at "${at} + ${length}")
string(SUBSTRING "${page}" ${at} -1 tail)

function(array name hex)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
    file(APPEND ${OUT} "const unsigned char ${name}[] = {\n${bytes}};\nconst size_t ${name}_size = sizeof ${name};\n")
endfunction()

file(WRITE ${OUT} "/* Made from src/explain/page by embed.cmake. */\n#include \"explain/page/page_parts.h\"\n\n")
array(page_head "${head}")
array(page_tail "${tail}")

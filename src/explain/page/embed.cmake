# embed.cmake: the page inside the library. Included by CMakeLists.txt it adds the rule that makes page_parts.c (see
# explain/page/page_parts.h) out of the files in this folder, and gives it to the library; run by that rule, with OUT, it
# makes it. CMake does it alone: html, styles and scripts as hexadecimal digits, put together, cut where the data belong.
set(PAGE_DIR ${CMAKE_CURRENT_LIST_DIR})
set(PAGE_STYLES look heads lens headview page sums walk)
set(PAGE_SCRIPTS strings_frame strings_heads strings_chapters strings_walk strings language dom theme tokens watch data
    numbers parts chapters colors heat_draw heat thumbnail headview training sums arithmetic attention sentence head_lines
    diagram lens steps backward walk_stops walk main)
list(TRANSFORM PAGE_STYLES REPLACE "(.+)" "${PAGE_DIR}/\\1.css")
list(TRANSFORM PAGE_SCRIPTS REPLACE "(.+)" "${PAGE_DIR}/\\1.js")

if(NOT CMAKE_SCRIPT_MODE_FILE)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/page_parts.c VERBATIM
        DEPENDS ${CMAKE_CURRENT_LIST_FILE} ${PAGE_DIR}/bytes.cmake ${PAGE_DIR}/page.html ${PAGE_STYLES} ${PAGE_SCRIPTS}
        COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/page_parts.c -P ${CMAKE_CURRENT_LIST_FILE})
    target_sources(rapt_objects PRIVATE ${CMAKE_BINARY_DIR}/page_parts.c)
    return()
endif()

include(${PAGE_DIR}/bytes.cmake)
read_hex(${PAGE_DIR}/page.html page)
join_hex(style ${PAGE_STYLES})
join_hex(scripts ${PAGE_SCRIPTS})
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

file(WRITE ${OUT} "/* Made from src/explain/page by embed.cmake. */\n#include \"explain/page/page_parts.h\"\n\n")
write_array(page_head "${head}")
write_array(page_tail "${tail}")

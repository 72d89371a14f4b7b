# embed.cmake: the page inside the server's module. Included by CMakeLists.txt it adds the rule that makes serve_page.c (see
# serve/module/embedded.h) out of the files in this folder and of those that it shares with the page of rapt explain, and names
# it in SERVE_PAGE; run by that rule, with OUT, it makes it. CMake does it alone: nothing is changed but put into one file.
set(SERVE_PAGE_DIR ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(SHARED_PAGE_DIR ${CMAKE_CURRENT_LIST_DIR}/../../../explain/page ABSOLUTE)
set(SERVE_PAGE_STYLES ${SHARED_PAGE_DIR}/look.css ${SERVE_PAGE_DIR}/page.css)
set(SERVE_PAGE_SCRIPTS ${SHARED_PAGE_DIR}/strings_frame.js ${SERVE_PAGE_DIR}/strings.js)
foreach(script language dom theme tokens)
    list(APPEND SERVE_PAGE_SCRIPTS ${SHARED_PAGE_DIR}/${script}.js)
endforeach()
foreach(script api examples models options explain translate completion alternatives main)
    list(APPEND SERVE_PAGE_SCRIPTS ${SERVE_PAGE_DIR}/${script}.js)
endforeach()

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(SERVE_PAGE ${CMAKE_BINARY_DIR}/serve_page.c)
    add_custom_command(OUTPUT ${SERVE_PAGE} VERBATIM
        DEPENDS ${CMAKE_CURRENT_LIST_FILE} ${SHARED_PAGE_DIR}/bytes.cmake ${SERVE_PAGE_DIR}/page.html ${SERVE_PAGE_STYLES}
            ${SERVE_PAGE_SCRIPTS}
        COMMAND ${CMAKE_COMMAND} -DOUT=${SERVE_PAGE} -P ${CMAKE_CURRENT_LIST_FILE})
    return()
endif()

cmake_policy(VERSION 3.22) # "@style@" is text
include(${SHARED_PAGE_DIR}/bytes.cmake)

# The policy names style and script by their SHA-256 in base64, which CMake knows in hexadecimal digits: three bytes are four
# letters, and the last two of the 32 bytes are three, with a "=".
function(source_hash text variable)
    set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
    string(SHA256 hex "${text}")
    set(base64 "")
    foreach(at RANGE 0 60 6)
        string(SUBSTRING "${hex}00" ${at} 6 bytes)
        foreach(shift 18 12 6 0)
            math(EXPR index "(0x${bytes} >> ${shift}) & 63")
            string(SUBSTRING ${letters} ${index} 1 letter)
            string(APPEND base64 ${letter})
        endforeach()
    endforeach()
    string(SUBSTRING ${base64} 0 43 base64)
    set(${variable} "'sha256-${base64}='" PARENT_SCOPE)
endfunction()

function(join_texts variable)
    set(all "")
    foreach(path ${ARGN})
        read_hex(${path} checked)
        file(READ ${path} text)
        string(APPEND all "${text}")
    endforeach()
    set(${variable} "${all}" PARENT_SCOPE)
endfunction()

file(READ ${SERVE_PAGE_DIR}/page.html page)
join_texts(style ${SERVE_PAGE_STYLES})
join_texts(script ${SERVE_PAGE_SCRIPTS})
set(script "\n(() => {\n\"use strict\";\n${script}})();\n")
source_hash("${style}" style_hash)
source_hash("${script}" script_hash)
string(REPLACE "@style@" "${style}" page "${page}")
string(REPLACE "@script@" "${script}" page "${page}")
string(HEX "${page}" page)

file(WRITE ${OUT} "/* Made from src/serve/module/page by embed.cmake. */\n#include \"serve/module/embedded.h\"\n\n")
write_array(serve_page_html "${page}")
string(CONCAT policy "default-src 'none'; style-src ${style_hash}; script-src ${script_hash}; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
file(APPEND ${OUT} "const char serve_page_policy[] = \"${policy}\";\n")

# bytes.cmake: what embeds a page in C: files as hexadecimal digits, and digits as an array. For the embed.cmake of this folder and
# of serve/module/page.

# What ends a script would end it inside the page too, wherever it stands.
function(read_hex path variable)
    file(READ ${path} text)
    if(text MATCHES "</(script|style)" AND NOT path MATCHES "[.]html$")
        message(FATAL_ERROR "${path}: must not contain </script or </style")
    endif()
    file(READ ${path} hex HEX)
    set(${variable} "${hex}" PARENT_SCOPE)
endfunction()

# Several files, one after the other.
function(join_hex variable)
    set(all "")
    foreach(path ${ARGN})
        read_hex(${path} hex)
        string(APPEND all "${hex}")
    endforeach()
    set(${variable} "${all}" PARENT_SCOPE)
endfunction()

# Adds an array and its size to the file OUT.
function(write_array name hex)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
    file(APPEND ${OUT} "const unsigned char ${name}[] = {\n${bytes}};\nconst size_t ${name}_size = sizeof ${name};\n")
endfunction()

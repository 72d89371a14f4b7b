# What a shell and man find in an installed rapt: completions, which the program prints, and the manual. Where a program of this
# build cannot run, because it is for another machine, there are none.
if(RAPT_SANITIZE OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
    return()
endif()
set(PAGES ${CMAKE_BINARY_DIR}/share)
set(PAGE_FILES "")
# page_of(FILE WORD...): FILE, below share/, is what a command prints.
function(page_of file)
    set(path ${PAGES}/${file})
    get_filename_component(folder ${path} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${path} COMMAND ${ARGN} > ${path}.new
        COMMAND ${CMAKE_COMMAND} -E rename ${path}.new ${path} DEPENDS ${ARGV1} ${PAGE_SOURCES} VERBATIM)
    list(APPEND PAGE_FILES ${path})
    set(PAGE_FILES ${PAGE_FILES} PARENT_SCOPE)
endfunction()
page_of(bash-completion/completions/rapt rapt --completion bash)
page_of(zsh/site-functions/_rapt rapt --completion zsh)
page_of(fish/vendor_completions.d/rapt.fish rapt --completion fish)

# The pages of the manual: words of docs/man, with the tables of options. What prints them is for the build alone.
add_executable(rapt_manual EXCLUDE_FROM_ALL tools/manual_pages.c)
target_link_libraries(rapt_manual PRIVATE rapt_cli ${SMALL_PROGRAM})
file(GLOB MANUAL CONFIGURE_DEPENDS docs/man/*.mdoc)
set(COMMON ${CMAKE_SOURCE_DIR}/docs/man/options.mdoc)
list(REMOVE_ITEM MANUAL ${COMMON})
foreach(source ${MANUAL})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "rapt-rapt" "rapt" page rapt-${name})
    set(PAGE_SOURCES ${source} ${COMMON})
    page_of(man/man1/${page}.1 rapt_manual ${CMAKE_SOURCE_DIR}/docs/man ${name})
endforeach()

add_custom_target(rapt_pages ALL DEPENDS ${PAGE_FILES})
install(DIRECTORY ${PAGES}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
foreach(folder bash-completion/completions zsh/site-functions fish/vendor_completions.d)
    install(DIRECTORY ${PAGES}/${folder}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
endforeach()

# page.cmake: embeds the pages of `heed look --page` and `--film` from src/page, and the sources of
# the operations, which the film shows, into a source file.

set(folder ${PROJECT_SOURCE_DIR}/src/page)
file(GLOB scripts CONFIGURE_DEPENDS ${folder}/[0-9]*.js)
list(SORT scripts)
set(film_scripts ${scripts})
list(FILTER film_scripts INCLUDE REGEX "/(00_numbers|02_colour|03_draw).js$")
list(APPEND film_scripts ${folder}/film/film.js)
file(GLOB operations CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.cpp)

# Sets HEED_<part> to the joined files, and HEED_<part>_SHA256 to the hash of this text.
function(heed_embed part)
  set(joined "")
  foreach(source ${ARGN})
    file(READ ${source} text)
    string(APPEND joined "${text}\n")
  endforeach()
  string(SHA256 hash "${joined}")
  set(HEED_${part} "${joined}" PARENT_SCOPE)
  set(HEED_${part}_SHA256 ${hash} PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()

heed_embed(PAGE_MARKUP ${folder}/page.html)
heed_embed(PAGE_STYLE ${folder}/page.css)
heed_embed(PAGE_SCRIPT ${scripts})
heed_embed(FILM_MARKUP ${folder}/film/film.html)
heed_embed(FILM_STYLE ${folder}/page.css ${folder}/film/film.css)
heed_embed(FILM_SCRIPT ${film_scripts})
heed_embed(LOAD ${folder}/load.js)
heed_embed(OPERATIONS ${operations})
configure_file(${folder}/embedded.cpp.in ${PROJECT_BINARY_DIR}/page_embedded.cpp @ONLY)

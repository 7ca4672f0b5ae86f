# page.cmake: embeds the page of `heed look --page` from src/page into a source file. The
# scripts are joined in the order of their names.

set(folder ${PROJECT_SOURCE_DIR}/src/page)
file(GLOB scripts CONFIGURE_DEPENDS ${folder}/[0-9]*.js)
list(SORT scripts)
file(READ ${folder}/page.html HEED_PAGE_MARKUP)
file(READ ${folder}/page.css HEED_PAGE_STYLE)
file(READ ${folder}/load.js HEED_PAGE_LOAD)
set(HEED_PAGE_SCRIPT "")
foreach(script ${scripts})
  file(READ ${script} text)
  string(APPEND HEED_PAGE_SCRIPT "${text}\n")
endforeach()
string(SHA256 HEED_PAGE_STYLE_SHA256 "${HEED_PAGE_STYLE}")
string(SHA256 HEED_PAGE_LOAD_SHA256 "${HEED_PAGE_LOAD}")
string(SHA256 HEED_PAGE_SCRIPT_SHA256 "${HEED_PAGE_SCRIPT}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${scripts} ${folder}/load.js ${folder}/page.html ${folder}/page.css)
configure_file(${folder}/embedded.cpp.in ${PROJECT_BINARY_DIR}/page_embedded.cpp @ONLY)

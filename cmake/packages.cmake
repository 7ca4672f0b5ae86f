# packages.cmake: finds the libraries that heed's library needs, or prints what to install. The
# installed package includes this file too.

# heed_missing(what apt brew conda) prints how to install a library. CMake stops after all searches.
set(HEED_MISSING FALSE)
macro(heed_missing what apt brew conda)
  message(NOTICE "heed needs ${what}: apt install ${apt} | brew install ${brew} | "
                 "conda install -c conda-forge ${conda}")
  set(HEED_MISSING TRUE)
endmacro()

# heed_imported(name) adds the imported target heed_NAME. GLOBAL, so that a project that adds heed as
# a subdirectory can link it. An exported target may depend on it, because it is imported.
macro(heed_imported name)
  if(NOT TARGET heed_${name})
    add_library(heed_${name} INTERFACE IMPORTED GLOBAL)
  endif()
endmacro()

# heed_headers(name target...) adds heed_NAME with the include folders of header-only targets.
# SYSTEM, because the compiler prints no warnings for system headers.
macro(heed_headers name)
  heed_imported(${name})
  foreach(target ${ARGN})
    if(TARGET ${target})
      get_target_property(heed_folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
      target_include_directories(heed_${name} SYSTEM INTERFACE ${heed_folders})
    endif()
  endforeach()
endmacro()

# heed_library(name what apt brew conda) adds the target heed_NAME for libNAME and NAME.h. It is a
# macro, not a function, so that heed_missing sets HEED_MISSING in this file.
macro(heed_library name what apt brew conda)
  string(TOUPPER ${name} variable)
  find_library(HEED_${variable} ${name})
  find_path(HEED_${variable}_INCLUDE ${name}.h)
  if(NOT HEED_${variable} OR NOT HEED_${variable}_INCLUDE)
    heed_missing(${what} ${apt} ${brew} ${conda})
  endif()
  heed_imported(${name})
  target_include_directories(heed_${name} SYSTEM INTERFACE ${HEED_${variable}_INCLUDE})
  target_link_libraries(heed_${name} INTERFACE ${HEED_${variable}})
endmacro()

# xtensor 0.24 or later. From 0.27 on xtensor needs C++20.
find_package(xtl QUIET)
find_package(xtensor QUIET)
if(NOT xtensor_FOUND)
  heed_missing("xtensor 0.24 or later" "libxtensor-dev xtl-dev" xtensor xtensor)
endif()
set(HEED_CXX_STANDARD 17)
if(xtensor_VERSION VERSION_GREATER_EQUAL 0.27)
  set(HEED_CXX_STANDARD 20)
endif()
heed_headers(xtensor xtensor xtensor::xtensor xtl xtl::xtl)

find_package(xsimd QUIET)
if(NOT xsimd_FOUND)
  heed_missing("xsimd" libxsimd-dev xsimd xsimd)
endif()
heed_headers(xsimd xsimd)

# The name is openblas, because plain blas may be the reference BLAS, which is twenty times slower.
find_library(HEED_OPENBLAS openblas PATH_SUFFIXES openblas)
find_path(HEED_CBLAS_INCLUDE openblas_config.h
          PATH_SUFFIXES openblas openblas-pthread openblas-openmp
          HINTS /opt/homebrew/opt/openblas/include /usr/local/opt/openblas/include)
if(NOT HEED_OPENBLAS OR NOT HEED_CBLAS_INCLUDE)
  heed_missing("OpenBLAS" libopenblas-dev openblas "openblas libopenblas")
endif()
heed_imported(blas)
target_include_directories(heed_blas SYSTEM INTERFACE ${HEED_CBLAS_INCLUDE})
target_link_libraries(heed_blas INTERFACE ${HEED_OPENBLAS})

# LIBXSMM 1 is optional: small and medium matrix products are faster with it. It calls the BLAS.
# LIBXSMM 2 has other functions.
find_library(HEED_XSMM xsmm)
find_path(HEED_XSMM_INCLUDE libxsmm.h)
heed_imported(xsmm)
set(heed_xsmm_functions)
if(HEED_XSMM AND HEED_XSMM_INCLUDE)
  file(STRINGS ${HEED_XSMM_INCLUDE}/libxsmm.h heed_xsmm_functions REGEX "libxsmm_smmdispatch[(]")
endif()
if(heed_xsmm_functions)
  target_compile_definitions(heed_xsmm INTERFACE HEED_WITH_XSMM)
  target_include_directories(heed_xsmm SYSTEM INTERFACE ${HEED_XSMM_INCLUDE})
  target_link_libraries(heed_xsmm INTERFACE ${HEED_XSMM} heed_blas ${CMAKE_DL_LIBS})
endif()

heed_library(xxhash xxHash libxxhash-dev xxhash xxhash)
heed_library(utf8proc utf8proc libutf8proc-dev utf8proc libutf8proc)

find_package(OpenMP QUIET COMPONENTS CXX)
if(NOT OpenMP_CXX_FOUND)
  heed_missing("OpenMP" "g++ (its libgomp)" "libomp" "openmp")
endif()
heed_imported(openmp)
separate_arguments(heed_openmp_flags UNIX_COMMAND "${OpenMP_CXX_FLAGS}")
target_compile_options(heed_openmp INTERFACE ${heed_openmp_flags})
target_include_directories(heed_openmp SYSTEM INTERFACE ${OpenMP_CXX_INCLUDE_DIRS})
# GCC's OpenMP is linked statically if possible: then heed can set how long its threads busy-wait.
set(heed_libgomp ${OpenMP_CXX_LIBRARIES})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a
                  OUTPUT_VARIABLE heed_static_libgomp OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS "${heed_static_libgomp}")
    find_package(Threads QUIET)
    set(heed_libgomp ${heed_static_libgomp} ${CMAKE_THREAD_LIBS_INIT} ${CMAKE_DL_LIBS})
  endif()
endif()
target_link_libraries(heed_openmp INTERFACE ${heed_libgomp})

# packages.cmake: finds what heed stands on, or says in one line what to install.

# heed_missing(what apt brew conda) says so in one line; the build stops when all have been looked for.
set(HEED_MISSING FALSE)
macro(heed_missing what apt brew conda)
  message(NOTICE "heed needs ${what}: apt install ${apt} | brew install ${brew} | "
                 "conda install -c conda-forge ${conda}")
  set(HEED_MISSING TRUE)
endmacro()

# xtensor: 0.24 up to the newest, which asks for C++20 from 0.27 on.
find_package(xtl QUIET)
find_package(xtensor QUIET)
if(NOT xtensor_FOUND)
  heed_missing("xtensor 0.24 or later" "libxtensor-dev xtl-dev" xtensor xtensor)
endif()
set(HEED_CXX_STANDARD 17)
if(xtensor_VERSION VERSION_GREATER_EQUAL 0.27)
  set(HEED_CXX_STANDARD 20)
endif()
add_library(heed_xtensor INTERFACE)
if(xtensor_FOUND)
  set(heed_xtensor_target xtensor)
  if(TARGET xtensor::xtensor)
    set(heed_xtensor_target xtensor::xtensor)
  endif()
  # As system headers: their warnings are not ours.
  get_target_property(heed_xtensor_include ${heed_xtensor_target} INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(heed_xtensor SYSTEM INTERFACE ${heed_xtensor_include})
  target_link_libraries(heed_xtensor INTERFACE ${heed_xtensor_target})
endif()

find_package(xsimd QUIET)
if(NOT xsimd_FOUND)
  heed_missing("xsimd" libxsimd-dev xsimd xsimd)
endif()
add_library(heed_xsimd INTERFACE)
target_link_libraries(heed_xsimd INTERFACE xsimd)

find_path(HEED_XTENSOR_BLAS_INCLUDE xtensor-blas/xlinalg.hpp)
if(NOT HEED_XTENSOR_BLAS_INCLUDE)
  heed_missing("xtensor-blas" libxtensor-blas-dev xtensor-blas xtensor-blas)
endif()

# OpenBLAS by name: plain -lblas may be the reference BLAS, twenty times slower.
find_library(HEED_OPENBLAS openblas PATH_SUFFIXES openblas)
find_path(HEED_CBLAS_INCLUDE openblas_config.h
          PATH_SUFFIXES openblas openblas-pthread openblas-openmp
          HINTS /opt/homebrew/opt/openblas/include /usr/local/opt/openblas/include)
if(NOT HEED_OPENBLAS OR NOT HEED_CBLAS_INCLUDE)
  heed_missing("OpenBLAS" libopenblas-dev openblas "openblas libopenblas")
endif()
add_library(heed_blas INTERFACE)
target_include_directories(heed_blas SYSTEM INTERFACE ${HEED_CBLAS_INCLUDE})
target_link_libraries(heed_blas INTERFACE ${HEED_OPENBLAS})

find_library(HEED_XXHASH xxhash)
find_path(HEED_XXHASH_INCLUDE xxhash.h)
if(NOT HEED_XXHASH OR NOT HEED_XXHASH_INCLUDE)
  heed_missing("xxHash" libxxhash-dev xxhash xxhash)
endif()
add_library(heed_xxhash INTERFACE)
target_include_directories(heed_xxhash SYSTEM INTERFACE ${HEED_XXHASH_INCLUDE})
target_link_libraries(heed_xxhash INTERFACE ${HEED_XXHASH})

find_library(HEED_UTF8PROC utf8proc)
find_path(HEED_UTF8PROC_INCLUDE utf8proc.h)
if(NOT HEED_UTF8PROC OR NOT HEED_UTF8PROC_INCLUDE)
  heed_missing("utf8proc" libutf8proc-dev utf8proc libutf8proc)
endif()
add_library(heed_utf8proc INTERFACE)
target_include_directories(heed_utf8proc SYSTEM INTERFACE ${HEED_UTF8PROC_INCLUDE})
target_link_libraries(heed_utf8proc INTERFACE ${HEED_UTF8PROC})

find_package(OpenMP QUIET COMPONENTS CXX)
if(NOT OpenMP_CXX_FOUND)
  heed_missing("OpenMP" "g++ (its libgomp)" "libomp" "openmp")
endif()

find_package(nlohmann_json QUIET)
if(NOT nlohmann_json_FOUND)
  heed_missing("nlohmann-json" nlohmann-json3-dev nlohmann-json nlohmann_json)
endif()
add_library(heed_json INTERFACE)
target_link_libraries(heed_json INTERFACE nlohmann_json::nlohmann_json)

find_package(CLI11 QUIET)
if(NOT CLI11_FOUND)
  heed_missing("CLI11" libcli11-dev cli11 cli11)
endif()
add_library(heed_cli INTERFACE)
target_link_libraries(heed_cli INTERFACE CLI11::CLI11)

if(HEED_MISSING)
  message(FATAL_ERROR "install what the lines above name, and configure again")
endif()

# Catch2 2 or 3; only the tests need it.
find_package(Catch2 QUIET)

# packages.cmake: finds the libraries that heed needs, or prints what to install.

# heed_missing(what apt brew conda) prints how to install a library. CMake stops after all searches.
set(HEED_MISSING FALSE)
macro(heed_missing what apt brew conda)
  message(NOTICE "heed needs ${what}: apt install ${apt} | brew install ${brew} | "
                 "conda install -c conda-forge ${conda}")
  set(HEED_MISSING TRUE)
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
add_library(heed_xtensor INTERFACE)
if(xtensor_FOUND)
  set(heed_xtensor_target xtensor)
  if(TARGET xtensor::xtensor)
    set(heed_xtensor_target xtensor::xtensor)
  endif()
  # SYSTEM, because the compiler prints no warnings for system headers.
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

# The name is openblas, because plain blas may be the reference BLAS, which is twenty times slower.
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

# heed_library(name what apt brew conda) adds the target heed_NAME for libNAME and NAME.h. It is a
# macro, not a function, so that heed_missing sets HEED_MISSING in this file.
macro(heed_library name what apt brew conda)
  string(TOUPPER ${name} variable)
  find_library(HEED_${variable} ${name})
  find_path(HEED_${variable}_INCLUDE ${name}.h)
  if(NOT HEED_${variable} OR NOT HEED_${variable}_INCLUDE)
    heed_missing(${what} ${apt} ${brew} ${conda})
  endif()
  add_library(heed_${name} INTERFACE)
  target_include_directories(heed_${name} SYSTEM INTERFACE ${HEED_${variable}_INCLUDE})
  target_link_libraries(heed_${name} INTERFACE ${HEED_${variable}})
endmacro()
heed_library(xxhash xxHash libxxhash-dev xxhash xxhash)
heed_library(utf8proc utf8proc libutf8proc-dev utf8proc libutf8proc)

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

# program_packages.cmake: finds the libraries that only heed's program, lessons and tests need.

find_path(HEED_XTENSOR_BLAS_INCLUDE xtensor-blas/xlinalg.hpp)
if(NOT HEED_XTENSOR_BLAS_INCLUDE)
  heed_missing("xtensor-blas" libxtensor-blas-dev xtensor-blas xtensor-blas)
endif()

find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  heed_missing("zlib" zlib1g-dev zlib zlib)
endif()

# Catch2 2 or 3; only the tests need it.
find_package(Catch2 QUIET)

if(HEED_MPI)
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    heed_missing("MPI, because HEED_MPI is ON" libopenmpi-dev open-mpi openmpi)
  endif()
endif()

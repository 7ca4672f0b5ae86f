# install.cmake: installs the library, its headers, and its packages for CMake and pkg-config.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/heed)

get_property(wings GLOBAL PROPERTY HEED_WINGS)
install(TARGETS heed_base ${wings} heed heed_double EXPORT heedTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/heed DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${folder})

set(HEED_INSTRUCTIONS)
if(HEED_NATIVE)
  heed_used_instructions(HEED_INSTRUCTIONS -march=native)
endif()
configure_package_config_file(cmake/heedConfig.cmake.in heedConfig.cmake
                              INSTALL_DESTINATION ${folder})
write_basic_package_version_file(heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
get_filename_component(HEED_BLAS_NAME "${HEED_OPENBLAS}" NAME_WE)
string(REGEX REPLACE "^lib" "" HEED_BLAS_NAME "${HEED_BLAS_NAME}")
if(HEED_XSMM AND HEED_XSMM_INCLUDE)
  set(HEED_PC_XSMM "-lxsmm ")
endif()
if(APPLE)
  set(HEED_PC_UNDERSCORE _)
endif()
if(CMAKE_DL_LIBS)
  set(HEED_PC_DL "-l${CMAKE_DL_LIBS} ")
endif()
file(RELATIVE_PATH HEED_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/heed.pc.in heed.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heedConfig.cmake ${PROJECT_BINARY_DIR}/heedConfigVersion.cmake
              cmake/packages.cmake cmake/instructions.cmake DESTINATION ${folder})
install(FILES ${PROJECT_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

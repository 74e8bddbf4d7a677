# Third-party libraries, all Debian packages (tools/packages.txt).
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
find_package(ZLIB REQUIRED)
find_path(CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_library(SUITESPARSECONFIG_LIBRARY suitesparseconfig REQUIRED)

add_library(sinew_thirdparty INTERFACE)
target_include_directories(sinew_thirdparty SYSTEM INTERFACE ${CHOLMOD_INCLUDE})
target_link_libraries(sinew_thirdparty INTERFACE ${CHOLMOD_LIBRARY} ${SUITESPARSECONFIG_LIBRARY} PkgConfig::OPENBLAS
                      PkgConfig::JANSSON ZLIB::ZLIB OpenMP::OpenMP_C m)
if(NOT SINEW_GPL)
  target_compile_definitions(sinew_thirdparty INTERFACE SINEW_WITHOUT_GPL)
endif()

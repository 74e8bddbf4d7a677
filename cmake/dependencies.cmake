# Third-party libraries, all Debian packages (tools/packages.txt).
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(Freetype REQUIRED)
find_path(CHOLMOD_INCLUDE cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_library(CAMD_LIBRARY camd REQUIRED)
find_library(SUITESPARSECONFIG_LIBRARY suitesparseconfig REQUIRED)

# SuiteSparse asks for libblas.so.3 and liblapack.so.3, which on Debian are what update-alternatives says. OpenBLAS would
# start threads when it is loaded, take buffers of 128 MB, and wait for ever where it gets none; only LU and QR call it
# at all. So the reference libraries are named by their places: what is linked directly is loaded first, and SuiteSparse
# then finds it there. Elsewhere, or where they are missing, the system's choice is taken.
foreach(library blas lapack)
  string(TOUPPER ${library} upper)
  find_library(SINEW_${upper} NAMES lib${library}.so.3 NO_DEFAULT_PATH
               PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/${library} /usr/lib/${library})
  find_library(SINEW_${upper} NAMES ${library} lib${library}.so.3 REQUIRED)
endforeach()

add_library(sinew_thirdparty INTERFACE)
target_include_directories(sinew_thirdparty SYSTEM INTERFACE ${CHOLMOD_INCLUDE})
target_link_libraries(sinew_thirdparty INTERFACE ${CHOLMOD_LIBRARY} ${CAMD_LIBRARY} ${SUITESPARSECONFIG_LIBRARY}
                      -Wl,--push-state,--no-as-needed ${SINEW_LAPACK} ${SINEW_BLAS} -Wl,--pop-state
                      PkgConfig::JANSSON ZLIB::ZLIB Threads::Threads m)
if(SINEW_GPL)
  find_library(UMFPACK_LIBRARY umfpack REQUIRED)
  find_library(SPQR_LIBRARY spqr REQUIRED)
  target_link_libraries(sinew_thirdparty INTERFACE ${SPQR_LIBRARY} ${UMFPACK_LIBRARY})
else()
  target_compile_definitions(sinew_thirdparty INTERFACE SINEW_WITHOUT_GPL)
endif()

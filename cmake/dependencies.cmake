# Third-party libraries, all Debian packages (tools/packages.txt). What the library and the command link is permissive
# (docs/reference/licences.md; tests/test_linked_libraries.sh looks at the result).
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(Freetype REQUIRED)
find_path(SUITESPARSE_INCLUDE amd.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(AMD_LIBRARY amd REQUIRED)
find_library(CAMD_LIBRARY camd REQUIRED)
find_library(SUITESPARSECONFIG_LIBRARY suitesparseconfig REQUIRED)

add_library(sinew_thirdparty INTERFACE)
target_include_directories(sinew_thirdparty SYSTEM INTERFACE ${SUITESPARSE_INCLUDE})
target_link_libraries(sinew_thirdparty INTERFACE ${AMD_LIBRARY} ${CAMD_LIBRARY} ${SUITESPARSECONFIG_LIBRARY}
                      PkgConfig::JANSSON ZLIB::ZLIB Threads::Threads m)

# CHOLMOD, UMFPACK and SPQR contain GPL modules: only the program of the experiments, tests of these and benchmarks link
# them, where they are installed.
find_library(CHOLMOD_LIBRARY cholmod)
find_library(UMFPACK_LIBRARY umfpack)
find_library(SPQR_LIBRARY spqr)

# They load libblas.so.3 and liblapack.so.3, which on Debian are what update-alternatives says. OpenBLAS would start
# threads when it is loaded, allocate buffers of 128 MB, and wait for ever where it gets none. So the reference libraries
# are named by their paths: what is linked directly is loaded first, and SuiteSparse then finds it there. Elsewhere, or
# where they are missing, the system's choice is taken.
foreach(library blas lapack)
  string(TOUPPER ${library} upper)
  find_library(SINEW_${upper} NAMES lib${library}.so.3 NO_DEFAULT_PATH
               PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/${library} /usr/lib/${library})
  find_library(SINEW_${upper} NAMES ${library} lib${library}.so.3)
endforeach()
add_library(sinew_reference_blas INTERFACE)
if(SINEW_BLAS AND SINEW_LAPACK)
  target_link_libraries(sinew_reference_blas INTERFACE
                        -Wl,--push-state,--no-as-needed ${SINEW_LAPACK} ${SINEW_BLAS} -Wl,--pop-state)
endif()

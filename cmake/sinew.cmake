# sinew_add_precision(NAME SINGLE): the library NAME, its static twin NAME_static (internals visible, for tests) and
# the command, in one precision.
#
# Kernel files (SINEW_KERNELS) are compiled once per SIMD variant; the rest once.

# A target with the property SINEW_RENAMED_MAIN has a main by another name, which no header declares.
add_library(sinew_flags INTERFACE)
target_compile_definitions(sinew_flags INTERFACE _GNU_SOURCE)
target_compile_options(sinew_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wshadow
  -Wstrict-prototypes $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SINEW_RENAMED_MAIN>>>:-Wmissing-prototypes> -Wno-psabi -fno-math-errno -fno-trapping-math>)
if(SINEW_WERROR)
  target_compile_options(sinew_flags INTERFACE -Werror)
endif()
if(SINEW_SANITIZE)
  target_compile_options(sinew_flags INTERFACE -fsanitize=${SINEW_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(sinew_flags INTERFACE -fsanitize=${SINEW_SANITIZE})
endif()

# What opens other people's files is hardened: executables at any address, tables of functions read-only, stacks that
# notice an overrun and are not run, calls of the C library that know the sizes of their buffers.
# tests/test_hardening.sh looks at the result.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT SINEW_SANITIZE)
  target_compile_options(sinew_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(sinew_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack
                      $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()

# Scenes beside the command, as in an installed tree: it finds them from any folder (app/find.c).
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/sinew)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/scenes ${PROJECT_BINARY_DIR}/share/sinew/scenes SYMBOLIC)

file(GLOB SINEW_KERNELS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/math/*.c ${PROJECT_SOURCE_DIR}/src/math/small/*.c
     ${PROJECT_SOURCE_DIR}/src/energy/*/*.c ${PROJECT_SOURCE_DIR}/src/bvh/kernels/*.c
     ${PROJECT_SOURCE_DIR}/src/collide/kernels/*.c)
# The choice between variants is made by code that any processor runs.
list(REMOVE_ITEM SINEW_KERNELS ${PROJECT_SOURCE_DIR}/src/math/variant.c)

set(SINEW_X86 FALSE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(SINEW_X86 TRUE)
endif()

function(sinew_add_variant name single suffix width)
  # Questions to a tree, and which features are near, have one answer, whichever variant gives it: nothing fuses there.
  file(GLOB exact CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/bvh/kernels/*.c
       ${PROJECT_SOURCE_DIR}/src/collide/kernels/*.c)
  set_source_files_properties(${exact} PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
  set(target ${name}_kernels_${suffix})
  add_library(${target} OBJECT ${SINEW_KERNELS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE sinew_flags)
  target_compile_definitions(${target} PRIVATE SINEW_SIMD_WIDTH=${width} SINEW_SIMD_SUFFIX=${suffix}
                             $<$<BOOL:${single}>:SINEW_SINGLE>)
  # Within a kernel products and sums may fuse: a variant gives the same bits on every machine that runs it.
  # No guard of the stack: kernels see only numbers that were checked, and keep arrays of lanes on it all the time.
  target_compile_options(${target} PRIVATE -ffp-contract=fast -fno-stack-protector ${ARGN})
  if(SINEW_SANITIZE)
    target_compile_definitions(${target} PRIVATE SINEW_KERNEL_CALLS)
  endif()
  # The address sanitizer's passes take most of a kernel's compilation. The scalar variant, which tests use as a
  # reference, does without the optimiser there: a fifth of the time (neo_hookean.c, rod.c, area.c: 1.6 s for 7.4 s).
  if(SINEW_SANITIZE AND suffix STREQUAL "scalar")
    target_compile_options(${target} PRIVATE -O0)
  endif()
  # GCC spends two thirds of a sanitized kernel's compilation on where variables live; traces need lines only.
  if(SINEW_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fno-var-tracking)
  endif()
endfunction()

# LU and QR for newton, which the program of the experiments and tests register; empty without UMFPACK and SPQR.
add_library(sinew_lu_qr STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/experiments/linear/linear_methods.c)
target_include_directories(sinew_lu_qr PUBLIC ${PROJECT_SOURCE_DIR}/experiments/linear PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(sinew_lu_qr PRIVATE sinew_flags)
if(CHOLMOD_LIBRARY AND UMFPACK_LIBRARY AND SPQR_LIBRARY)
  target_sources(sinew_lu_qr PRIVATE ${PROJECT_SOURCE_DIR}/experiments/linear/lu.c
                 ${PROJECT_SOURCE_DIR}/experiments/linear/qr.c)
  target_include_directories(sinew_lu_qr SYSTEM PRIVATE ${SUITESPARSE_INCLUDE})
  target_compile_definitions(sinew_lu_qr PUBLIC SINEW_WITH_LU_QR)
  target_link_libraries(sinew_lu_qr PUBLIC ${SPQR_LIBRARY} ${UMFPACK_LIBRARY} ${CHOLMOD_LIBRARY} sinew_reference_blas)
else()
  message(STATUS "newton's linear = lu and qr are left out of sinew-reproduce: install libsuitesparse-dev")
endif()

# The command NAME_command, and NAME_reproduce with the experiments, which the command becomes for `sinew reproduce`.
# What both need is NAME_app, a library of theirs alone.
function(sinew_add_programs name)
  set(root ${PROJECT_SOURCE_DIR})
  file(GLOB app CONFIGURE_DEPENDS ${root}/app/*.c)
  file(GLOB reproduce CONFIGURE_DEPENDS ${root}/app/reproduce*.c ${root}/app/figure*.c)
  file(GLOB experiments CONFIGURE_DEPENDS ${root}/experiments/*.c)
  list(REMOVE_ITEM app ${reproduce} ${root}/app/main.c)
  add_library(${name}_app STATIC ${app})
  target_link_libraries(${name}_app PRIVATE sinew_flags PUBLIC ${name}_static $<TARGET_NAME_IF_EXISTS:${name}_render>)
  target_include_directories(${name}_app PUBLIC ${root}/app)
  add_executable(${name}_command ${root}/app/main.c)
  add_executable(${name}_reproduce ${reproduce} ${experiments})
  target_include_directories(${name}_reproduce PRIVATE ${root}/experiments)
  target_link_libraries(${name}_reproduce PRIVATE sinew_lu_qr)
  string(REPLACE "_" "-" command ${name})
  string(REPLACE "sinew" "sinew-reproduce" experiments_command ${command})
  set_target_properties(${name}_command PROPERTIES OUTPUT_NAME ${command})
  set_target_properties(${name}_reproduce PROPERTIES OUTPUT_NAME ${experiments_command})
  foreach(program ${name}_command ${name}_reproduce)
    target_link_libraries(${program} PRIVATE sinew_flags ${name}_app)
    set_target_properties(${program} PROPERTIES INSTALL_RPATH_USE_LINK_PATH TRUE)
  endforeach()
endfunction()

# Calls that tests replace: allocations, and polls of the interruption flag.
set(SINEW_WRAP_MEMORY -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
                      -Wl,--wrap=aligned_alloc,--wrap=posix_memalign)
set(SINEW_WRAP_POLLS -Wl,--wrap=sinew_stop_came)

function(sinew_add_precision name single)
  set(root ${PROJECT_SOURCE_DIR})
  if(single)
    set(generic 4)
    set(avx 8)
  else()
    set(generic 2)
    set(avx 4)
  endif()
  sinew_add_variant(${name} ${single} scalar 1)
  set(objects $<TARGET_OBJECTS:${name}_kernels_scalar>)
  if(SINEW_X86)
    sinew_add_variant(${name} ${single} avx2 ${avx} -mavx2 -mfma)
    list(APPEND objects $<TARGET_OBJECTS:${name}_kernels_avx2>)
  else()
    sinew_add_variant(${name} ${single} generic ${generic})
    list(APPEND objects $<TARGET_OBJECTS:${name}_kernels_generic>)
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/src/*.c)
  list(REMOVE_ITEM sources ${SINEW_KERNELS})
  add_library(${name}_rest OBJECT ${sources})
  target_include_directories(${name}_rest PRIVATE ${root}/include ${root}/src)
  target_link_libraries(${name}_rest PRIVATE sinew_flags sinew_thirdparty)
  target_compile_definitions(${name}_rest PRIVATE $<$<BOOL:${single}>:SINEW_SINGLE>)
  # Sums over particles decide bits that threads and machines must agree on.
  target_compile_options(${name}_rest PRIVATE -ffp-contract=off)

  # With SINEW_SHARED_INTERNALS a changed object costs one link for all tests.
  set(kind STATIC)
  set(internals ${name})
  if(SINEW_SHARED_INTERNALS)
    set(kind SHARED)
    set(internals ${name}_internals)
  endif()
  add_library(${name}_static ${kind} $<TARGET_OBJECTS:${name}_rest> ${objects})
  add_library(${name} SHARED $<TARGET_OBJECTS:${name}_rest> ${objects})
  foreach(library ${name} ${name}_static)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${root}/include> $<INSTALL_INTERFACE:include>)
    target_compile_definitions(${library} PUBLIC $<$<BOOL:${single}>:SINEW_SINGLE>)
  endforeach()
  target_link_libraries(${name} PRIVATE sinew_flags sinew_thirdparty)
  target_link_libraries(${name}_static PUBLIC sinew_thirdparty PRIVATE sinew_flags)
  # Before 1.0 a minor version may break programs (VERSIONING.md): it is a part of the library's name.
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} INSTALL_RPATH_USE_LINK_PATH TRUE
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${internals})
  # Tests replace these calls with --wrap in a link of their own; a shared library is another link.
  if(SINEW_SHARED_INTERNALS)
    target_sources(${name}_static PRIVATE ${root}/tests/replaceable_calls.c)
    target_link_options(${name}_static PRIVATE ${SINEW_WRAP_MEMORY} ${SINEW_WRAP_POLLS})
  endif()

  # Pictures: a library of its own, which the command and its tests link; the product's library stays free of libpng
  # and FreeType.
  file(GLOB render CONFIGURE_DEPENDS ${root}/render/*.c)
  if(render)
    add_library(${name}_render STATIC ${render})
    target_include_directories(${name}_render PUBLIC ${root}/render)
    target_link_libraries(${name}_render PRIVATE sinew_flags PUBLIC ${name}_static PNG::PNG Freetype::Freetype)
    target_compile_options(${name}_render PRIVATE -ffp-contract=off)
  endif()

  sinew_add_programs(${name})
endfunction()

# sinew_add_precision(NAME SINGLE): the library NAME, its static twin NAME_static (internals visible, for tests) and
# the command, in one precision.
#
# Kernel files (all of src/energy but the choice and batch files, src/math, and kernel files of src/tree and src/contact) are compiled once per lane variant; the
# rest once.

add_library(sinew_flags INTERFACE)
target_compile_definitions(sinew_flags INTERFACE _GNU_SOURCE)
target_compile_options(sinew_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wshadow
  -Wstrict-prototypes -Wmissing-prototypes -Wno-psabi -fno-math-errno -fno-trapping-math>)
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

set(SINEW_X86 FALSE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(SINEW_X86 TRUE)
endif()

function(sinew_add_variant name single suffix width)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/math/*.c ${PROJECT_SOURCE_DIR}/src/math/small/*.c
       ${PROJECT_SOURCE_DIR}/src/energy/*/*.c ${PROJECT_SOURCE_DIR}/src/bvh/kernels/*.c
       ${PROJECT_SOURCE_DIR}/src/collide/kernels/*.c)
  # Questions to a tree, and which features are near, have one answer, whichever variant gives it: nothing fuses there.
  file(GLOB exact CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/bvh/kernels/*.c
       ${PROJECT_SOURCE_DIR}/src/collide/kernels/*.c)
  set_source_files_properties(${exact} PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
  set(target ${name}_kernels_${suffix})
  add_library(${target} OBJECT ${kernels})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE sinew_flags)
  target_compile_definitions(${target} PRIVATE SINEW_LANE_WIDTH=${width} SINEW_LANE_SUFFIX=${suffix}
                             $<$<BOOL:${single}>:SINEW_SINGLE>)
  # Within a kernel products and sums may fuse: a variant gives the same bits on every machine that runs it.
  # No guard of the stack: kernels see only numbers that were checked, and keep arrays of lanes on it all the time.
  target_compile_options(${target} PRIVATE -ffp-contract=fast -fno-stack-protector ${ARGN})
  if(SINEW_SANITIZE)
    target_compile_definitions(${target} PRIVATE SINEW_KERNEL_CALLS)
  endif()
  # GCC spends two thirds of a sanitized kernel's compilation on where variables live; traces need lines only.
  if(SINEW_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fno-var-tracking)
  endif()
endfunction()

function(sinew_add_precision name single)
  set(root ${PROJECT_SOURCE_DIR})
  if(single)
    set(sse 4)
    set(avx 8)
  else()
    set(sse 2)
    set(avx 4)
  endif()
  sinew_add_variant(${name} ${single} scalar 1)
  set(objects $<TARGET_OBJECTS:${name}_kernels_scalar>)
  if(SINEW_X86)
    sinew_add_variant(${name} ${single} avx2 ${avx} -mavx2 -mfma)
    list(APPEND objects $<TARGET_OBJECTS:${name}_kernels_avx2>)
    if(SINEW_SSE2)
      sinew_add_variant(${name} ${single} sse2 ${sse} -msse2)
      list(APPEND objects $<TARGET_OBJECTS:${name}_kernels_sse2>)
    endif()
  else()
    sinew_add_variant(${name} ${single} generic ${sse})
    list(APPEND objects $<TARGET_OBJECTS:${name}_kernels_generic>)
  endif()

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/src/*.c)
  file(GLOB kernels CONFIGURE_DEPENDS ${root}/src/math/*.c ${root}/src/math/small/*.c ${root}/src/energy/*/*.c
       ${root}/src/bvh/kernels/*.c ${root}/src/collide/kernels/*.c)
  list(REMOVE_ITEM sources ${kernels})
  add_library(${name}_rest OBJECT ${sources})
  target_include_directories(${name}_rest PRIVATE ${root}/include ${root}/src)
  target_link_libraries(${name}_rest PRIVATE sinew_flags sinew_thirdparty)
  target_compile_definitions(${name}_rest PRIVATE $<$<BOOL:${single}>:SINEW_SINGLE>
                             $<$<NOT:$<BOOL:${SINEW_SSE2}>>:SINEW_WITHOUT_SSE2>)
  # Sums over particles decide bits that threads and machines must agree on.
  target_compile_options(${name}_rest PRIVATE -ffp-contract=off)

  add_library(${name}_static STATIC $<TARGET_OBJECTS:${name}_rest> ${objects})
  add_library(${name} SHARED $<TARGET_OBJECTS:${name}_rest> ${objects})
  foreach(library ${name} ${name}_static)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${root}/include> $<INSTALL_INTERFACE:include>)
    target_compile_definitions(${library} PUBLIC $<$<BOOL:${single}>:SINEW_SINGLE>)
  endforeach()
  target_link_libraries(${name} PRIVATE sinew_flags sinew_thirdparty)
  target_link_libraries(${name}_static PUBLIC sinew_thirdparty PRIVATE sinew_flags)
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 INSTALL_RPATH_USE_LINK_PATH TRUE)
  set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name})

  # Pictures: a library of its own, which the command and its tests link; the product's library stays free of libpng
  # and FreeType.
  file(GLOB render CONFIGURE_DEPENDS ${root}/render/*.c)
  if(render)
    add_library(${name}_render STATIC ${render})
    target_include_directories(${name}_render PUBLIC ${root}/render)
    target_link_libraries(${name}_render PRIVATE sinew_flags PUBLIC ${name}_static PNG::PNG Freetype::Freetype)
    target_compile_options(${name}_render PRIVATE -ffp-contract=off)
  endif()

  file(GLOB app CONFIGURE_DEPENDS ${root}/app/*.c ${root}/experiments/*.c)
  if(app)
    add_executable(${name}_command ${app})
    target_include_directories(${name}_command PRIVATE ${root}/experiments)
    target_link_libraries(${name}_command PRIVATE sinew_flags ${name}_static $<TARGET_NAME_IF_EXISTS:${name}_render>)
    string(REPLACE "_" "-" command ${name})
    set_target_properties(${name}_command PROPERTIES OUTPUT_NAME ${command} INSTALL_RPATH_USE_LINK_PATH TRUE)
  endif()
endfunction()

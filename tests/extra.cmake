# Tests that are not one cmocka program each, and labels and targets over those that are. One block a purpose.

# ---- Checks of the public headers and of an installed tree (shell scripts) ----
# Not under a sanitizer: they build programs of their own with the user's flags.
if(NOT SINEW_SANITIZE)
  add_test(NAME test_headers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_headers.sh)
  if(TARGET sinew AND TARGET sinew_single)
    add_test(NAME test_install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_install.sh ${PROJECT_BINARY_DIR}
             ${CMAKE_CURRENT_BINARY_DIR}/installed)
  endif()
  add_test(NAME test_rooms COMMAND ${PROJECT_SOURCE_DIR}/tools/rooms)
  if(TARGET sinew_command)
    add_test(NAME test_documents COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_documents.sh ${PROJECT_BINARY_DIR}
             ${CMAKE_CURRENT_BINARY_DIR}/documents)
  endif()
  if(TARGET sinew AND TARGET sinew_single)
    add_test(NAME test_hello COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_hello.sh ${PROJECT_BINARY_DIR}
             ${CMAKE_CURRENT_BINARY_DIR}/hello)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND TARGET sinew_command AND TARGET sinew_single_command)
    add_test(NAME test_hardening COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_hardening.sh ${PROJECT_BINARY_DIR}
             ${CMAKE_CURRENT_BINARY_DIR}/hardened)
  endif()
endif()

# ---- The referee of contact, against surfaces of which the answer is known ----
add_test(NAME test_referee COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_referee.sh $<TARGET_FILE:crossings>
         ${CMAKE_CURRENT_BINARY_DIR}/crossings $<$<TARGET_EXISTS:sinew_command>:$<TARGET_FILE:sinew_command>>)

# ---- Tests that start threads: what the thread sanitizer runs (`make test`, preset tsan) ----
add_custom_target(threaded_tests)
foreach(target test_threads test_contact_state test_picture test_own_tasks test_tasks test_phases test_prefactor test_sweep test_refresh_sweeps
               test_coarse test_mpbng test_mpbng_contact
               test_changing_world test_tree test_fill test_detect test_crossings)
  if(TARGET ${target})
    add_dependencies(threaded_tests ${target})
    set_tests_properties(${target} PROPERTIES LABELS threads)
  endif()
endforeach()

# ---- Tests that include failing_malloc.h: every allocation goes through it ----
file(GLOB sources CONFIGURE_DEPENDS test_*.c)
foreach(source ${sources})
  file(STRINGS ${source} included REGEX "include \"failing_malloc.h\"")
  get_filename_component(base ${source} NAME_WE)
  foreach(target ${base} ${base}_single)
    if(included AND TARGET ${target})
      target_link_options(${target} PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
                          -Wl,--wrap=aligned_alloc,--wrap=posix_memalign)
    endif()
  endforeach()
endforeach()

# ---- Fuzzers: each tests/fuzz_*.c is a libFuzzer program (`make fuzz`, preset fuzz) ----
if(SINEW_FUZZ)
  add_custom_target(fuzzers)
  file(GLOB programs CONFIGURE_DEPENDS fuzz_*.c)
  foreach(source ${programs})
    get_filename_component(target ${source} NAME_WE)
    add_executable(${target} ${source})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE sinew_flags sinew_static)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${target})
  endforeach()
endif()

# ---- One experiment is run in both precisions ----
if(TARGET test_reproduce AND TARGET sinew_single_command)
  add_dependencies(test_reproduce sinew_single_command)
endif()
if(TARGET test_reproduce)
  # About three quarters of a minute on an idle core; many tests share the cores.
  set_tests_properties(test_reproduce PROPERTIES TIMEOUT 900)
endif()

# ---- The long ones first, so that none is left over at the end while the other cores wait ----
foreach(base reproduce allocation determinism threads newton solvers pbng_acceleration admm_weights contact_overlap
             contact_factors contact_state contact_physics)
  foreach(target test_${base} test_${base}_single)
    if(TARGET ${target})
      set_tests_properties(${target} PROPERTIES COST 10)
    endif()
  endforeach()
endforeach()

# ---- Tests that draw random cases (random_cases.h): a sample in `make test`, many in `make nightly` ----
file(GLOB sources CONFIGURE_DEPENDS test_*.c)
foreach(source ${sources})
  file(STRINGS ${source} included REGEX "include \"random_cases.h\"")
  get_filename_component(base ${source} NAME_WE)
  foreach(target ${base} ${base}_single)
    if(included AND TARGET ${target})
      set_property(TEST ${target} APPEND PROPERTY LABELS nightly)
    endif()
  endforeach()
endforeach()

# ---- The double build judges the gaps of the single one ----
if(TARGET test_gap AND TARGET test_gap_single)
  target_compile_definitions(test_gap_single PRIVATE SINEW_REFEREE="$<TARGET_FILE:test_gap>")
  add_dependencies(test_gap_single test_gap)
endif()

# ---- Plates and shells are built as the experiments build them ----
foreach(target test_thin test_thin_single)
  if(TARGET ${target})
    foreach(file plate plate_mesh strip roof drape triangulate)
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/experiments/${file}.c)
    endforeach()
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/experiments)
  endif()
endforeach()

# ---- The referee of contact judges every frame ----
foreach(target test_no_crossing test_no_crossing_single)
  if(TARGET ${target})
    target_compile_definitions(${target} PRIVATE SINEW_CROSSINGS="$<TARGET_FILE:crossings>")
    add_dependencies(${target} crossings)
  endif()
endforeach()

# ---- Chains against GSL's integrators, where it is installed: of a test alone, never of the product ----
pkg_check_modules(GSL IMPORTED_TARGET gsl)
foreach(target test_chain_ode test_chain_ode_single)
  if(GSL_FOUND AND TARGET ${target})
    target_compile_definitions(${target} PRIVATE SINEW_WITH_GSL)
    target_link_libraries(${target} PRIVATE PkgConfig::GSL)
  endif()
endforeach()

# Tests other than single cmocka programs, and labels and targets for groups of tests. Each block has one purpose.

# ---- Checks of the public headers and of an installed tree (shell scripts) ----
# Not under a sanitizer: these tests build programs with the user's flags.
if(NOT SINEW_SANITIZE)
  add_test(NAME test_headers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_headers.sh)
  if(TARGET sinew AND TARGET sinew_single)
    add_test(NAME test_install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_install.sh ${PROJECT_BINARY_DIR}
             ${CMAKE_CURRENT_BINARY_DIR}/installed)
  endif()
  add_test(NAME test_rooms COMMAND ${PROJECT_SOURCE_DIR}/tools/rooms)
  foreach(name sinew sinew_single)
    if(TARGET ${name}_command)
      add_test(NAME test_linked_libraries_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_linked_libraries.sh
               $<TARGET_FILE:${name}> $<TARGET_FILE:${name}_command>)
    endif()
  endforeach()
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

# ---- The worked example of docs/guides/extending.md ----
if(TARGET sinew AND TARGET sinew_app AND NOT SINEW_SANITIZE)
  add_executable(extended_command extended_command.c ${PROJECT_SOURCE_DIR}/examples/extend/extend_energy.c
                 ${PROJECT_SOURCE_DIR}/examples/extend/extend_solver.c)
  target_link_libraries(extended_command PRIVATE sinew_flags sinew_app)
  add_test(NAME test_extend_example COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_extend.sh ${PROJECT_BINARY_DIR}
           ${CMAKE_CURRENT_BINARY_DIR}/extend $<TARGET_FILE:extended_command>)
endif()

# ---- The intersection checker tools/crossings, against surfaces with known results ----
add_test(NAME test_referee COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test_referee.sh $<TARGET_FILE:crossings>
         ${CMAKE_CURRENT_BINARY_DIR}/crossings $<$<TARGET_EXISTS:sinew_command>:$<TARGET_FILE:sinew_command>>)

# ---- SIGTERM in eight long operations (tools/stop-times): one moment each, 200 in `make nightly` (tools/nightly) ----
# The bound only finds processes that ignore the signal: tests do not assert on times.
if(TARGET sinew_command AND NOT SINEW_SANITIZE)
  add_test(NAME test_stop_times COMMAND ${PROJECT_SOURCE_DIR}/tools/stop-times --count 8 --count 7 --seed 8 --resumes 1
           --bound 30000 --command $<TARGET_FILE:sinew_command>)
endif()

# ---- Random scenes (tools/random-scenes): a sample in `make test`, thousands in `make nightly` (tools/nightly) ----
# The sample has a fixed seed. Fresh seeds need nights of thousands of scenes without a failure first, since a sample
# fails as many times as often as a scene. The first twelve of this seed take 15 s of processor time.
foreach(suffix "" _single)
  if(TARGET sinew${suffix}_static)
    add_executable(scene_balance${suffix} scene_balance.c)
    target_link_libraries(scene_balance${suffix} PRIVATE sinew_flags sinew${suffix}_static)
  endif()
endforeach()
if(TARGET sinew_command)
  add_test(NAME test_random_scenes COMMAND ${PROJECT_SOURCE_DIR}/tools/random-scenes
           --count 12 --seed 31 --command $<TARGET_FILE:sinew_command>)
elseif(TARGET sinew_single_command)
  add_test(NAME test_random_scenes COMMAND ${PROJECT_SOURCE_DIR}/tools/random-scenes
           --count 12 --seed 31 --command none --single $<TARGET_FILE:sinew_single_command>)
endif()

# ---- Tests that start threads, which the thread sanitizer runs ----
foreach(test ${SINEW_THREADED_TESTS})
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES LABELS threads)
  endif()
endforeach()

# ---- Libraries of single tests, which the product does not link ----
# sinew_link_tests(PATTERN LIBRARY): links every test whose source has a line that matches PATTERN
function(sinew_link_tests pattern library)
  foreach(source ${SINEW_TEST_SOURCES})
    file(STRINGS ${source} found REGEX ${pattern})
    get_filename_component(base ${source} NAME_WE)
    foreach(objects ${base}_objects ${base}_single_objects)
      if(found AND TARGET ${objects})
        target_link_libraries(${objects} PRIVATE ${library})
      endif()
    endforeach()
  endforeach()
endfunction()
sinew_link_tests("include \"linear_methods.h\"" sinew_lu_qr) # LU and QR of the experiments
sinew_link_tests("(dsyev|dgesvd|dposv)_\\(" sinew_reference_blas) # LAPACK, which some results are compared with

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

# ---- An experiment that runs in both precisions ----
if(TARGET tests_command AND TARGET sinew_single_reproduce)
  add_dependencies(tests_command sinew_single_command sinew_single_reproduce)
endif()

# ---- Long tests start first, so that no core waits for one at the end ----
foreach(base reproduce own_tasks allocation admm_weights contact_state pages_app newton render_app solver_traits kill_app
             contact_factors solvers foreign_hands pbng_descent determinism picture)
  foreach(target test_${base} test_${base}_single)
    if(TARGET ${target})
      set_tests_properties(${target} PROPERTIES COST 10)
    endif()
  endforeach()
endforeach()

# ---- Tests that draw random cases (random_cases.h): a sample in `make test`, many in `make nightly` ----
foreach(source ${SINEW_TEST_SOURCES})
  file(STRINGS ${source} included REGEX "include \"random_cases.h\"")
  get_filename_component(base ${source} NAME_WE)
  foreach(target ${base} ${base}_single)
    if(included AND TARGET ${target})
      set_property(TEST ${target} APPEND PROPERTY LABELS nightly)
    endif()
  endforeach()
endforeach()

# ---- The single-precision command differs only by its library: `make test` (tools/ctest) runs test_run_app_single,
# `make nightly` all tests of the command ----
if(TARGET sinew_command AND TARGET sinew_single_command)
  foreach(test ${group_command})
    if(NOT test STREQUAL "test_run_app")
      set_property(TEST ${test}_single APPEND PROPERTY LABELS nightly_only)
    endif()
  endforeach()
endif()

# ---- The double build checks the gaps of the single build ----
if(TARGET test_gap AND TARGET test_gap_single)
  target_compile_definitions(test_gap_single_objects PRIVATE SINEW_REFEREE="${CMAKE_CURRENT_BINARY_DIR}/test_gap")
  add_dependencies(test_gap_single test_gap)
endif()

# ---- Tests of plates and shells share their models with the experiments ----
foreach(target test_thin_objects test_thin_single_objects)
  if(TARGET ${target})
    foreach(file plate plate_mesh strip roof drape triangulate)
      target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/experiments/${file}.c)
    endforeach()
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/experiments)
  endif()
endforeach()

# ---- tools/crossings checks every frame ----
foreach(target test_no_crossing test_no_crossing_single)
  if(TARGET ${target})
    target_compile_definitions(${target}_objects PRIVATE SINEW_CROSSINGS="$<TARGET_FILE:crossings>")
    add_dependencies(${target} crossings)
  endif()
endforeach()

# ---- Chains against GSL's integrators, if GSL is installed; only this test links it, never the product ----
pkg_check_modules(GSL IMPORTED_TARGET gsl)
foreach(target test_chain_ode test_chain_ode_single)
  if(GSL_FOUND AND TARGET ${target})
    target_compile_definitions(${target}_objects PRIVATE SINEW_WITH_GSL)
    target_link_libraries(${target}_objects PRIVATE PkgConfig::GSL)
  endif()
endforeach()

# ---- The double build runs the single build for its share of the draws ----
if(TARGET test_error_draws AND TARGET test_error_draws_single)
  target_compile_definitions(test_error_draws_objects PRIVATE
                             SINEW_SINGLE_BUILD="${CMAKE_CURRENT_BINARY_DIR}/test_error_draws_single")
  add_dependencies(test_error_draws test_error_draws_single)
endif()

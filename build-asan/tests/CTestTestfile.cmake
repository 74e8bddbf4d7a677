# CMake generated Testfile for 
# Source directory: /work/wt/cache/tests
# Build directory: /work/wt/cache/build-asan/tests
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
add_test([=[test_cache]=] "/work/wt/cache/build-asan/tests/test_cache")
set_tests_properties([=[test_cache]=] PROPERTIES  TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/cache/tests/CMakeLists.txt;24;add_test;/work/wt/cache/tests/CMakeLists.txt;30;sinew_add_tests;/work/wt/cache/tests/CMakeLists.txt;0;")
add_test([=[test_cache_failures]=] "/work/wt/cache/build-asan/tests/test_cache_failures")
set_tests_properties([=[test_cache_failures]=] PROPERTIES  TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/cache/tests/CMakeLists.txt;24;add_test;/work/wt/cache/tests/CMakeLists.txt;30;sinew_add_tests;/work/wt/cache/tests/CMakeLists.txt;0;")
add_test([=[test_generators]=] "/work/wt/cache/build-asan/tests/test_generators")
set_tests_properties([=[test_generators]=] PROPERTIES  TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/cache/tests/CMakeLists.txt;24;add_test;/work/wt/cache/tests/CMakeLists.txt;30;sinew_add_tests;/work/wt/cache/tests/CMakeLists.txt;0;")
add_test([=[test_state_file]=] "/work/wt/cache/build-asan/tests/test_state_file")
set_tests_properties([=[test_state_file]=] PROPERTIES  TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/cache/tests/CMakeLists.txt;24;add_test;/work/wt/cache/tests/CMakeLists.txt;30;sinew_add_tests;/work/wt/cache/tests/CMakeLists.txt;0;")
add_test([=[test_cache_single]=] "/work/wt/cache/build-asan/tests/test_cache_single")
set_tests_properties([=[test_cache_single]=] PROPERTIES  TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/cache/tests/CMakeLists.txt;24;add_test;/work/wt/cache/tests/CMakeLists.txt;33;sinew_add_tests;/work/wt/cache/tests/CMakeLists.txt;0;")
add_test([=[test_cache_failures_single]=] "/work/wt/cache/build-asan/tests/test_cache_failures_single")
set_tests_properties([=[test_cache_failures_single]=] PROPERTIES  TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/cache/tests/CMakeLists.txt;24;add_test;/work/wt/cache/tests/CMakeLists.txt;33;sinew_add_tests;/work/wt/cache/tests/CMakeLists.txt;0;")
add_test([=[test_generators_single]=] "/work/wt/cache/build-asan/tests/test_generators_single")
set_tests_properties([=[test_generators_single]=] PROPERTIES  TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/cache/tests/CMakeLists.txt;24;add_test;/work/wt/cache/tests/CMakeLists.txt;33;sinew_add_tests;/work/wt/cache/tests/CMakeLists.txt;0;")
add_test([=[test_state_file_single]=] "/work/wt/cache/build-asan/tests/test_state_file_single")
set_tests_properties([=[test_state_file_single]=] PROPERTIES  TIMEOUT "300" _BACKTRACE_TRIPLES "/work/wt/cache/tests/CMakeLists.txt;24;add_test;/work/wt/cache/tests/CMakeLists.txt;33;sinew_add_tests;/work/wt/cache/tests/CMakeLists.txt;0;")

# CMake generated Testfile for 
# Source directory: /work/wt/cache/bench
# Build directory: /work/wt/cache/build-asan/bench
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.

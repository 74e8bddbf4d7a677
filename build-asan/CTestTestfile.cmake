# CMake generated Testfile for 
# Source directory: /work/wt/cache
# Build directory: /work/wt/cache/build-asan
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
subdirs("tests")
subdirs("bench")

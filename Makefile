# What a person types. Everything is built by CMake with the presets of CMakePresets.json, in build/<preset>.
#
#   make           both libraries and both commands: build/release/sinew, build/release/sinew-single
#   make demo      runs a few scenes into build/demo, draws films of them and ends in one page to open
#   make gallery   draws the pictures of README.md and docs/gallery.md anew (tools/gallery.txt)
#   make test      everything that must hold: checks, thread, address and undefined behaviour sanitizers, tests
#   make sanitize  the address and undefined behaviour sanitizers in single precision, which make test leaves out
#   make check     the tests alone, in the release build: the quick way while working
#   make nightly   the tests that draw random cases, many of them with a fresh seed (make test runs a small sample), and
#                  the worked example of docs/extending.md
#   make bench     ratios measured within one run (bench/)
#   make lint      rooms, format, compiler warnings, cppcheck, clang-tidy
#   make format    formats the sources in place
#   make fuzz      every reader against made-up files, FUZZ_SECONDS each
#   make install   into PREFIX (default /usr/local)
#   make clean     removes build/
#
# PRESET=debug make   builds another preset. Missing Debian packages are installed by tools/setup.

PRESET ?= release
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20

.PHONY: all setup setup-test demo gallery test sanitize check nightly bench lint format fuzz install clean

all: setup
	@tools/build $(PRESET) -j $(JOBS) --target product

setup:
	@tools/setup build

setup-test:
	@tools/setup test

demo: setup
	@tools/build release -j $(JOBS) --target sinew_command
	@tools/demo

gallery: setup
	@tools/build release -j $(JOBS) --target sinew_command
	@tools/gallery
	@tools/gallery --page >docs/gallery.md

# The release suite runs last: the summary at the end is the one of all tests.
test: setup-test
	@tools/build release -j $(JOBS)
	@tools/lint --quick
	@tools/build tsan -j $(JOBS) --target threaded_tests
	@tools/ctest tsan --label-regex threads -j $(JOBS)
	@tools/build asan -j $(JOBS)
	@tools/ctest asan -j $(JOBS)
	@tools/ctest release -j $(JOBS)

sanitize: setup-test
	@tools/build asan-single -j $(JOBS)
	@tools/ctest asan-single -j $(JOBS)

check: setup-test
	@tools/build release -j $(JOBS)
	@tools/ctest release -j $(JOBS)

nightly: setup-test
	@tools/build release -j $(JOBS)
	@tools/nightly
	@tools/check-example

bench: setup-test
	@tools/build release -j $(JOBS)
	@tools/bench

lint: setup-test
	@tools/lint

format: setup-test
	@tools/sources | xargs clang-format-14 -i

fuzz: setup-test
	@tools/build fuzz -j $(JOBS) --target fuzzers
	@tools/fuzz $(FUZZ_SECONDS)

install: all
	@cmake --install build/$(PRESET) --prefix $(PREFIX)

clean:
	rm -rf build

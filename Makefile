# What a person types. Everything is built by CMake with the presets of CMakePresets.json, in build/<preset>.
#
#   make           both libraries and both commands: build/release/sinew, build/release/sinew-single
#   make demo      runs a few scenes into build/demo, draws films of them and ends in one page to open
#   make gallery   draws the pictures of README.md and docs/guides/gallery.md anew (tools/gallery.txt)
#   make test      the release build and all its tests, at most ten minutes on two cores (make check is the same)
#   make verify    what CI runs beside make test: tools/lint --quick, the build of the benchmarks, the tests under the
#                  thread, address and undefined behaviour sanitizers
#   make sanitize  the address and undefined behaviour sanitizers in single precision, which make verify leaves out
#   make nightly   the tests that draw random cases, many of them (make test runs a small sample), and deep
#                  analysis. PART=k/n: one of n parts, at most 20 minutes; RESTART=1: from
#                  the start; SHARE=10: a tenth of the cases. A rerun continues; results are in build/nightly/results.csv
#   make mutants   100 small wrong changes drawn by SEED; prints how many the tests notice (docs/evidence/mutants.md)
#   make bench     ratios measured within one run (bench/)
#   make docs      the documents as a searchable site in build/docs, with all links and anchors checked
#   make lint      rooms, format, compiler warnings, cppcheck, clang-tidy (tools/lint --deep: its deep analysis)
#   make format    formats the sources in place, and wraps the documents at 120 characters
#   make fuzz      every reader against made-up files, FUZZ_SECONDS each
#   make install   into PREFIX (default /usr/local)
#   make clean     removes build/
#
# PRESET=debug make   builds another preset. Missing Debian packages are installed by tools/setup.

PRESET ?= release
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
SEED ?= 1
COUNT ?= 100
RESTART ?= 0
SHARE ?= 100

.PHONY: all setup setup-test setup-check demo gallery docs test check verify sanitize nightly mutants bench lint \
        format fuzz \
        install clean

all: setup
	@tools/build $(PRESET) -j $(JOBS) --target product

setup:
	@tools/setup build

setup-test:
	@tools/setup test

setup-check:
	@tools/setup check

demo: setup
	@tools/build release -j $(JOBS) --target sinew_command
	@tools/demo

gallery: setup
	@tools/build release -j $(JOBS) --target sinew_command
	@tools/gallery
	@tools/gallery --page >docs/guides/gallery.md

test: setup-test
	@tools/build release -j $(JOBS)
	@tools/ctest release -j $(JOBS)

check: test

verify: setup-check
	@tools/lint --quick
	@tools/build release -j $(JOBS) --target benchmarks
	@tools/build tsan -j $(JOBS) --target tests_threads tests_polls
	@tools/ctest tsan --label-regex threads -j $(JOBS)
	@tools/build asan -j $(JOBS)
	@tools/ctest asan -j $(JOBS)

sanitize: setup-check
	@tools/build asan-single -j $(JOBS)
	@tools/ctest asan-single -j $(JOBS)

nightly: setup-check
	@tools/build release -j $(JOBS)
	@RESTART=$(RESTART) SHARE=$(SHARE) tools/nightly $(PART)

mutants: setup-check
	@tools/mutants --seed $(SEED) --count $(COUNT) -j $(JOBS)

bench: setup-test
	@tools/build release -j $(JOBS) --target benchmarks
	@tools/bench

docs:
	@tools/setup docs
	@tools/docs --check
	@tools/docs --site

lint: setup-check
	@tools/lint

format: setup-check
	@tools/sources | xargs clang-format-14 -i
	@tools/docs --wrap

fuzz: setup-check
	@tools/build fuzz -j $(JOBS) --target fuzzers
	@tools/fuzz $(FUZZ_SECONDS)

install: all
	@cmake --install build/$(PRESET) --prefix $(PREFIX)

clean:
	rm -rf build

# The door to the CMake build. `make` leaves the program at build/rapt.
BUILD ?= build
JOBS ?= $(shell nproc)
export JOBS
CONFIGURE = tools/configure.sh
COMPILE = tools/build.sh

.PHONY: all examples debug check bench asan tsan clang install clean help

all: ## build the release: build/rapt, build/librapt.a, build/librapt.so, manual pages, completions
	@$(CONFIGURE) $(BUILD) && $(COMPILE) $(BUILD) rapt rapt_shared rapt_static rapt_pages

examples: ## build the programs of docs/book and the other examples, in build/examples
	@$(CONFIGURE) $(BUILD) && $(COMPILE) $(BUILD) examples

debug: ## build without optimization, with debug symbols, in build-debug
	@$(CONFIGURE) build-debug -DCMAKE_BUILD_TYPE=Debug -DRAPT_TESTS=ON && $(COMPILE) build-debug

check: ## build and run all tests (./test also installs what they need)
	@$(CONFIGURE) build-test -DRAPT_TESTS=ON && $(COMPILE) build-test && ctest --test-dir build-test --output-on-failure

asan: ## run the tests with address and undefined-behavior sanitizers
	@$(CONFIGURE) build-asan -DRAPT_TESTS=ON -DRAPT_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo && $(COMPILE) build-asan && ctest --test-dir build-asan --output-on-failure

tsan: ## run the tests with the thread sanitizer
	@$(CONFIGURE) build-tsan -DRAPT_TESTS=ON -DRAPT_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo && $(COMPILE) build-tsan && ctest --test-dir build-tsan --output-on-failure

clang: ## build everything with clang, in build-clang
	@CC=clang $(CONFIGURE) build-clang -DRAPT_TESTS=ON && $(COMPILE) build-clang

BENCHES ?= gemm train_step decode memory threads busy growth long_rows
bench: all ## time this machine, a table a figure, beside PyTorch where PYTHON has it; one only: make bench BENCHES=decode
	@for figure in $(BENCHES); do echo "== bench/$$figure.sh" && RAPT=$(BUILD)/rapt bash bench/$$figure.sh || exit 1; done

install: all ## install program, library, headers, man page: make install PREFIX=DIR (else /usr/local; DESTDIR for packages)
	cmake --install $(BUILD) $(if $(PREFIX),--prefix "$(PREFIX)")

clean: ## remove all build folders
	rm -rf build build-debug build-test build-asan build-tsan build-clang

help: ## show this list
	@sed -n 's/^\([a-z]*\):[^#]*## /  make \1\t/p' Makefile | expand -t 16

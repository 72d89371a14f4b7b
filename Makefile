# The door to the CMake build. `make` leaves the program at build/rapt.
BUILD ?= build
JOBS ?= $(shell nproc)
CONFIGURE = cmake -S . -DCMAKE_EXPORT_COMPILE_COMMANDS=ON

.PHONY: all examples debug check bench asan tsan clang install clean help

all: ## build the release: build/rapt, build/librapt.a, build/librapt.so
	@$(CONFIGURE) -B $(BUILD) >/dev/null && cmake --build $(BUILD) -j$(JOBS) --target rapt rapt_shared rapt_static -- --no-print-directory

examples: ## build the programs of docs/book and the other examples, in build/examples
	@$(CONFIGURE) -B $(BUILD) >/dev/null && cmake --build $(BUILD) -j$(JOBS) --target examples -- --no-print-directory

debug: ## build without optimization, with debug symbols, in build-debug
	@$(CONFIGURE) -B build-debug -DCMAKE_BUILD_TYPE=Debug -DRAPT_TESTS=ON >/dev/null && cmake --build build-debug -j$(JOBS)

check: ## build and run all tests (./test also installs what they need)
	@$(CONFIGURE) -B build-test -DRAPT_TESTS=ON >/dev/null && cmake --build build-test -j$(JOBS) -- --no-print-directory && ctest --test-dir build-test --output-on-failure

asan: ## run the tests with address and undefined-behavior sanitizers
	@$(CONFIGURE) -B build-asan -DRAPT_TESTS=ON -DRAPT_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null && cmake --build build-asan -j$(JOBS) -- --no-print-directory && ctest --test-dir build-asan --output-on-failure

tsan: ## run the tests with the thread sanitizer
	@$(CONFIGURE) -B build-tsan -DRAPT_TESTS=ON -DRAPT_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null && cmake --build build-tsan -j$(JOBS) -- --no-print-directory && ctest --test-dir build-tsan --output-on-failure

clang: ## build everything with clang, in build-clang
	@CC=clang $(CONFIGURE) -B build-clang -DRAPT_TESTS=ON >/dev/null && cmake --build build-clang -j$(JOBS) -- --no-print-directory

BENCHES ?= gemm train_step decode memory threads busy growth long_rows
bench: all ## time this machine, a table a figure, beside PyTorch where PYTHON has it; one only: make bench BENCHES=decode
	@for figure in $(BENCHES); do echo "== bench/$$figure.sh" && RAPT=$(BUILD)/rapt bash bench/$$figure.sh || exit 1; done

install: all ## install program, library, headers, man page: make install PREFIX=DIR (else /usr/local; DESTDIR for packages)
	cmake --install $(BUILD) $(if $(PREFIX),--prefix "$(PREFIX)")

clean: ## remove all build folders
	rm -rf build build-debug build-test build-asan build-tsan build-clang

help: ## show this list
	@sed -n 's/^\([a-z]*\):[^#]*## /  make \1\t/p' Makefile | expand -t 16

# The tasks of the project; `make help` lists them. Everything is built into .venv and target/.

VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
SAMPLE := tests/samples/tf_data/map_py_function.xplane.pb

# rustup installs beside, not into, the search path of a shell that was open before it.
export PATH := $(PATH):$(HOME)/.cargo/bin

# The first interpreter that is new enough. Say PYTHON=... to choose another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)

RUST_SOURCES := Cargo.toml $(wildcard Cargo.lock) $(shell find crates/core crates/tfprof crates/python -name '*.rs' -o -name Cargo.toml)

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint test-rust test-python bench fuzz docs clean
.SUFFIXES:

help: ## list the tasks
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 22

setup: $(STAMPS)/package ## build everything into .venv, so that .venv/bin/stepscope runs

demo: setup ## build, then summarise a recording that ships with the project
	$(BIN)/stepscope $(SAMPLE)

test: setup lint test-rust test-python ## the whole suite

lint: $(STAMPS)/package ## formatting, types, import contracts
	cargo fmt --check
	cargo clippy --release --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-rust: $(STAMPS)/toolchain ## the tests of the native crates
	cargo test --profile dev-fast --quiet --package stepscope-core --package stepscope-tfprof

test-python: $(STAMPS)/package ## the tests of everything else
	$(BIN)/pytest --numprocesses=auto

bench: setup ## ratios against peers, written to benchmarks/results (BENCH=... chooses rows)
	$(BIN)/python benchmarks/run.py $(BENCH)

fuzz: setup $(STAMPS)/fuzz ## every fuzz target for FUZZ_SECONDS each (600)
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(FUZZ_SECONDS),600)

docs: setup ## write docs/reference anew from the schema, the library and the messages
	$(BIN)/stepscope docs --write docs/reference

clean: ## remove what was built
	rm -rf $(VENV) target crates/fuzz/target src/stepscope/_core*.so

# --- what the tasks stand on -------------------------------------------------------------------

$(STAMPS)/package: $(STAMPS)/toolchain $(STAMPS)/dependencies $(RUST_SOURCES)
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet
	@touch $@

$(STAMPS)/dependencies: pyproject.toml | $(STAMPS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

$(STAMPS)/fuzz: pyproject.toml | $(STAMPS)/dependencies
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group fuzz
	command -v cargo-fuzz >/dev/null || cargo install --quiet --locked cargo-fuzz
	@touch $@

$(STAMPS):
	@if [ -z "$(PYTHON)" ]; then \
		echo "make: Python 3.10 or newer is missing."; \
		echo "  seen:  $$(python3 --version 2>&1 || echo no python3 at all)"; \
		echo "  to do: apt-get install python3 python3-venv   (Debian, Ubuntu)"; \
		echo "         dnf install python3                     (Fedora)"; \
		echo "         brew install python                     (macOS)"; \
		echo "         or make PYTHON=/path/to/python3"; \
		exit 1; fi
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV) || { \
		echo "make: $(PYTHON) cannot make a virtual environment."; \
		echo "  to do: apt-get install python3-venv            (Debian, Ubuntu)"; \
		rm -rf $(VENV); exit 1; }
	@mkdir -p $@

$(STAMPS)/toolchain: Cargo.toml | $(STAMPS)
	@need=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); \
	have=$$(rustc --version 2>/dev/null | cut -d' ' -f2); \
	if ! command -v cargo >/dev/null || [ -z "$$have" ] || \
	   [ "$$(printf '%s\n' $$need $$have | sort -V | head -n 1)" != "$$need" ]; then \
		echo "make: the native core needs Rust $$need or newer (cargo and rustc)."; \
		echo "  seen:  $${have:-no Rust compiler}"; \
		echo "  to do: install rustup (https://rustup.rs, or: apt-get install rustup; dnf install rustup;"; \
		echo "         brew install rustup), then: rustup default stable, and make again"; \
		exit 1; fi
	@command -v cc >/dev/null || { \
		echo "make: Rust needs a linker, and there is no cc."; \
		echo "  to do: apt-get install gcc libc6-dev   (Debian, Ubuntu)"; \
		echo "         dnf install gcc                  (Fedora)"; \
		echo "         xcode-select --install           (macOS)"; \
		exit 1; }
	@touch $@

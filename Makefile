# The tasks of the project; `make help` lists them. Everything is built into .venv and target/.

VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
SAMPLE := tests/samples/tf_data/map_py_function.xplane.pb

# A shell that was open before rustup was installed lacks its folder.
export PATH := $(PATH):$(HOME)/.cargo/bin
# Puts a toolchain that make installed itself on PATH.
RUST := . ./$(STAMPS)/toolchain &&
# The version that pyproject.toml builds with.
MATURIN := "$$(sed -n 's/^requires = \["\(maturin[^"]*\)"\]/\1/p' pyproject.toml)"
PIP  := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Where an environment asks for none, each worker would compile all tests anew, and each process of a test the package.
unexport PYTHONDONTWRITEBYTECODE

# The first interpreter that is new enough. Say PYTHON=... to choose another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$p && break; done)

# A file's tests share what it sets up, in one worker. One worker more than cores: some tests wait for processes.
WORKERS = $$(( $$($(BIN)/python -c 'import os; print(os.cpu_count() or 1)') + 1 ))
SUITE := $(BIN)/pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder
# Files named repeats_*.py belong to the second tier as a whole (tests/tiers.py).
ALL   := STEPSCOPE_TEST_ALL=1
EVERY := -o python_files="test_*.py repeats_*.py"
# Cases of each property of the crates; those that set a number of their own keep it.
CASES := PROPTEST_CASES=24

RUST_SOURCES := Cargo.toml $(wildcard Cargo.lock) \
	$(shell find crates -path crates/fuzz -prune -o \( -name '*.rs' -o -name '*.rules' -o -name Cargo.toml \) -print)

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all lint test-rust test-python engines bench measured gate fuzz versions
.PHONY: web docs pictures site wheel notices clean
.SUFFIXES:

help: ## list the tasks
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 22

setup: $(STAMPS)/package ## build everything into .venv, so that .venv/bin/stepscope runs

demo: setup ## build, then summarise a recording that ships with the project
	$(BIN)/stepscope $(SAMPLE)

test: ## what a change can break, eleven minutes once built
	@$(or $(PYTHON),python3) tests/parts.py "setup=$(MAKE) $(STAMPS)/package $(STAMPS)/test" \
		--beside "lint=$(MAKE) lint" "rust=$(MAKE) test-rust" --beside "python=$(MAKE) test-python"

test-all: lint $(STAMPS)/package $(STAMPS)/test-all ## that, and what repeats: an hour or two (STEPSCOPE_TEST_SHARD=1/4 runs a part)
	$(RUST) PROPTEST_CASES=1000 cargo test --release --quiet --workspace
	$(ALL) $(SUITE) $(EVERY) $(TESTS)

lint: $(STAMPS)/package $(STAMPS)/test ## formatting, types, import contracts
	$(RUST) cargo fmt --check
	$(RUST) cargo clippy --release --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@# What checks the page is installed by `make web`, and by .ci/run.
	if [ -d web/node_modules ]; then cd web && npm run --silent lint && npm run --silent check; fi

test-rust: $(STAMPS)/toolchain ## the tests of the native crates
	$(RUST) $(CASES) cargo test --release --quiet --workspace

test-python: $(STAMPS)/package $(STAMPS)/test ## the tests of everything else
	@# In a new clone each worker would compile all tests, which takes two thirds of what it takes to collect them.
	@ls tests/__pycache__/conftest.*-pytest-*.pyc >/dev/null 2>&1 || \
		$(BIN)/pytest --collect-only --quiet --quiet $(TESTS) >/dev/null || true
	$(SUITE) $(TESTS)

engines: $(STAMPS)/package $(STAMPS)/test-all ## the library on a Spark cluster, a worker killed within an ingest (needs Java; some minutes)
	STEPSCOPE_TEST_ENGINES=1 $(ALL) $(BIN)/pytest $(EVERY) tests/engines

bench: $(STAMPS)/package $(STAMPS)/test ## ratios against peers, written to benchmarks/results (BENCH=... chooses rows)
	$(BIN)/python benchmarks/run.py $(BENCH); broken=$$?; $(BIN)/python benchmarks/table.py && exit $$broken

measured: $(STAMPS)/package ## write docs/measured.md from the results that are kept
	$(BIN)/python benchmarks/table.py

gate: $(STAMPS)/package $(STAMPS)/test ## how often `stepscope check` is wrong, on 32 recordings made now (a quarter of an hour)
	$(BIN)/python benchmarks/gate.py $(GATE)

fuzz: $(STAMPS)/package $(STAMPS)/test $(STAMPS)/fuzz ## every fuzz target for FUZZ_SECONDS each (600)
	$(RUST) $(BIN)/python tests/fuzz/run.py --seconds $(or $(FUZZ_SECONDS),600)

versions: setup ## record with the oldest and newest TensorFlow and JAX on each Python there is (docs/versions.md)
	$(BIN)/python benchmarks/versions.py $(VERSIONS)

web: ## build the page of `stepscope serve` into src/stepscope/server/assets (needs Node 20.19)
	cd web && npm ci --ignore-scripts && npm run lint && npm run build && npm test

docs: setup ## write the reference (docs/reference) from the schema, the library and the messages
	@rm -rf docs/reference
	$(BIN)/stepscope docs --write docs/reference

pictures: setup ## make the pictures of the documentation from today's output (installs rich; docs/page.png needs Chromium)
	@$(PIP) rich==15.0.0
	$(BIN)/python packaging/pictures.py screen $(SAMPLE) docs/summary.svg
	$(BIN)/python packaging/pictures.py page tests/samples/capture/slow_map docs/page.png

site: docs ## build the documentation as a site into site/ (installs Zensical)
	@$(PIP) zensical==0.0.73
	$(BIN)/zensical build --clean

# Both of a release, in one build: the wheel is made from the source distribution, without a network, for this machine's
# processor and any Linux with glibc 2.28.
RELEASE := target/wheels/release
TAG     := manylinux_2_28
wheel: $(STAMPS)/toolchain ## build a wheel and a source distribution that others can install, and try the wheel where there is nothing else
	@rm -rf $(RELEASE)
	$(RUST) $(BIN)/python packaging/wheel.py sdist --out $(RELEASE)
	$(RUST) $(BIN)/python packaging/wheel.py offline --target $$(uname -m)-unknown-linux-gnu --tag $(TAG) $(RELEASE)
	$(BIN)/python packaging/wheel.py check --tag $(TAG) $(RELEASE)
	$(BIN)/python packaging/wheel.py smoke $(RELEASE)

notices: $(STAMPS)/toolchain ## write THIRD-PARTY-NOTICES: the licences of the crates and the JavaScript in a wheel
	$(RUST) command -v cargo-about >/dev/null || cargo install --quiet --locked --version 0.9.3 --features cli cargo-about
	$(RUST) $(BIN)/python packaging/notices.py write

clean: ## remove what was built
	rm -rf $(VENV) target crates/fuzz/target src/stepscope/_core*.so

# --- stamps: each is as new as what it was made from ------------------------------------------

# maturin installs the run-time dependencies that pyproject.toml names, those of the page among them, then builds.
$(STAMPS)/package: $(STAMPS)/toolchain $(BIN)/maturin $(RUST_SOURCES) pyproject.toml
	@echo "make: building the native core; the first time takes a minute or two"
	@$(RUST) PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet --extras serve
	@touch $@

$(BIN)/maturin: pyproject.toml | $(STAMPS)
	@echo "make: installing maturin into $(VENV)"
	@$(PIP) $(MATURIN)
	@touch $@

# What tests, linters and benchmarks need: the group "test", which pip reads from 25.1 on, and two parts of
# Rust that a minimal toolchain lacks.
$(STAMPS)/test: pyproject.toml $(STAMPS)/toolchain
	@echo "make: installing what tests and linters need into $(VENV), TensorFlow and JAX among it: about 2.5 GB"
	@$(PIP) --upgrade 'pip>=25.1'
	@$(PIP) --group test
	@$(RUST) cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 \
		|| rustup component add rustfmt clippy
	@touch $@

$(STAMPS)/test-all: $(STAMPS)/test
	@echo "make: installing what repeats on other engines and stores needs, and PyTorch, into $(VENV): about 7 GB"
	@$(PIP) --group test-all
	@touch $@

$(STAMPS)/fuzz: pyproject.toml $(STAMPS)/toolchain $(STAMPS)/test
	@$(PIP) --group fuzz
	$(RUST) command -v cargo-fuzz >/dev/null || cargo install --quiet --locked cargo-fuzz
	@touch $@

$(STAMPS):
	@if [ -z "$(PYTHON)" ]; then \
		echo "make: Python 3.10 or newer is missing."; \
		echo "  seen:  $$(python3 --version 2>/dev/null || echo no python3)"; \
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

# Empty where cargo on PATH will do, else the lines that put another toolchain there.
$(STAMPS)/toolchain: Cargo.toml crates/toolchain.py | $(STAMPS)
	@$(BIN)/python crates/toolchain.py $@.new
	@mv $@.new $@

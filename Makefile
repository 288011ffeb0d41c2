# make run: it opens in your browser. make test: run the quick tests. Each sets up what it needs first.
PYTHON ?= python3
BIN := .venv/bin
UV = $(shell command -v uv 2>/dev/null || echo $(CURDIR)/.uv/bin/uv)
export UV_LINK_MODE ?= copy
export UV_SYSTEM_CERTS ?= 1
# Without bytecode every start would compile numpy anew where Python may not write it itself.
export UV_COMPILE_BYTECODE ?= 1

# Tests of one file stay together, for they share servers and browsers. What is compiled for them
# is kept for the next time.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

# All but voice, which is large and for few: pip install "oldfriend[voice]" adds it.
EXTRAS := $(foreach name,models postgres keyring calendar mcp web telegram discord slack matrix whatsapp email wyoming,--extra $(name))

.PHONY: setup run test test-unit test-slow test-full check bench lock model lexicon icons architecture clean

# Whoever develops has all that running needs; syncing it alone would take the rest away.
run: $(if $(wildcard .venv/.dev),.venv/.dev,.venv/.run)
	@$(BIN)/oldfriend serve --open

setup: .venv/.dev

# Those of the quick tests that open no database and start no process: a minute of them.
test-unit: .venv/.dev
	$(PYTEST) --unit

# The quick tests; test-slow adds what takes longer (CI runs both), and test-full is all of them
# at full size, on both engines, which takes hours.
test: .venv/.dev
	$(PYTEST) -m "not slow"

test-slow: .venv/.dev
	$(PYTEST) -m slow

test-full: .venv/.dev
	OLDFRIEND_TEST_SIZE=full $(PYTEST)

check: .venv/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) -m "not slow"

bench: .venv/.dev
	$(BIN)/oldfriend bench --json bench.json

# Write the locked requirements anew from the ranges in pyproject.toml.
lock: .uv/ready
	$(UV) pip compile --universal --generate-hashes --no-header -q --python-version 3.11 \
		pyproject.toml $(EXTRAS) -o requirements/run.txt
	$(UV) pip compile --universal --generate-hashes --no-header -q --python-version 3.11 \
		pyproject.toml $(EXTRAS) --group dev -o requirements/dev.txt
	$(UV) pip compile --universal --generate-hashes --no-header -q --python-version 3.11 \
		--no-deps --group hermes -o requirements/hermes.txt

# Build the embedding model anew from the original weights (it is in the repository already).
model: .venv/.dev
	$(BIN)/python scripts/build_minilm.py

# Build the lists of common words anew (they are in the repository already).
lexicon: .venv/.dev
	$(BIN)/python scripts/build_lexicon.py

# Draw the icons of the installed page anew (they are in the repository already).
icons: .venv/.dev
	$(BIN)/python scripts/build_icons.py

# Write docs/architecture.md anew from the module docstrings.
architecture: .venv/.dev
	$(BIN)/python scripts/build_architecture.py

clean:
	rm -rf .venv .uv dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

.uv/ready:
	@mkdir -p .uv
	@command -v uv >/dev/null 2>&1 || $(PYTHON) -m venv .uv
	@command -v uv >/dev/null 2>&1 || .uv/bin/python -m pip install -q --disable-pip-version-check "uv>=0.9,<1"
	@touch $@

.venv/bin/python: .uv/ready
	@test -x $@ || $(UV) venv -q --python $(PYTHON) .venv

# Exactly what the lock says, and this checkout on top of it.
.venv/.run: requirements/run.txt pyproject.toml .venv/bin/python
	@echo "Setting up what is needed, once: this takes a minute, and about 350 MB of disk."
	@$(UV) pip sync -q --python $(BIN)/python --require-hashes requirements/run.txt
	@$(UV) pip install -q --python $(BIN)/python --no-deps -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

# Hermes Agent pins what it needs to other versions than ours, so only its own files are put aside.
.venv/.dev: requirements/dev.txt requirements/hermes.txt requirements/run.txt pyproject.toml evals/pyproject.toml .venv/bin/python
	@echo "Setting up what is needed, tests and checks too: this takes a minute."
	@$(UV) pip sync -q --python $(BIN)/python --require-hashes requirements/dev.txt
	@$(UV) pip install -q --python $(BIN)/python --no-deps -e . -e evals
	@$(UV) pip install -q --python $(BIN)/python --no-deps --require-hashes --upgrade \
		--target .venv/hermes -r requirements/hermes.txt
	@$(BIN)/python -m compileall -q src
	@touch $@

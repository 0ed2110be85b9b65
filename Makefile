# Two commands do everything on a fresh machine: `make dev` and `make test`. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
export SAM_CLI_TELEMETRY := 0
export __SAM_CLI_APP_DIR := $(CURDIR)/.local/sam
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help dev test bench lint format types build validate clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

dev: .venv/dev ## the whole service on this machine (PORT=8080, RESET=1 starts afresh)
	@exec $(BIN)/python -m devstack

test: .venv/dev ## all tests
	@$(BIN)/python -m pytest

bench: .venv/bench ## measure, and write bench/results.json
	@$(BIN)/python -m bench

lint: .venv/dev ## style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@for door in functions/*/; do $(BIN)/mypy $$door/app.py || exit 1; done

format: .venv/dev ## lay the code out
	@$(BIN)/ruff check --fix -q .
	@$(BIN)/ruff format -q .

validate: .venv/build ## is template.yaml valid?
	@$(BIN)/sam validate --lint

# Compiled here because Lambda cannot: its folders are read-only, so without .pyc files every cold start compiles all again.
# The C sources that some packages ship beside what was compiled from them are 7 MB that nothing reads.
build: .venv/build ## what `sam deploy` uploads (needs Python 3.13, the functions' runtime)
	@folder="$$($(BIN)/python tools/find_python.py 3.13)" && export PATH="$$folder:$$PATH" && $(BIN)/sam build --cached \
	  && find .aws-sam/build -name '*.c' -delete \
	  && python3.13 -m compileall -q -j 2 --invalidation-mode unchecked-hash .aws-sam/build \
	  && $(BIN)/python -m tests.template.libraries .aws-sam/build

clean: ## forget everything that was installed or made here
	rm -rf .venv .local .aws-sam

# Each group of packages is locked with hashes in requirements/; a stamp says that it is installed.
.venv/%: requirements/%.txt
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit("Tocsin needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.13 …") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing what requirements/$*.txt lists into .venv (the first time takes a minute or two) …"
	@$(BIN)/pip install --quiet --no-deps -r requirements/$*.txt
	@touch $@

# Two commands do everything on a fresh machine: `make dev` and `make test`. `make help` lists the rest.
# The first Python that is new enough; PYTHON=… chooses another.
PYTHON ?= $(shell for each in python3 python3.13 python3.14 python3.12 python3.11; do $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)
BIN := .venv/bin
GROUPS := run test build bench lambda
export SAM_CLI_TELEMETRY := 0
export __SAM_CLI_APP_DIR := $(CURDIR)/.local/sam

.PHONY: help dev sam-local test smoke e2e-lambda bench screenshots restore-drill lint format validate scan build deploy clean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

dev: install-run ## the whole service on this machine (PORT=8080, RESET=1 starts afresh)
	@exec $(BIN)/python -m devstack

sam-local: install-run install-build ## the same in the containers of sam local, up to a mail; needs Docker (PORT=3000, RESET=1; docs/local-stack.md)
	@exec $(BIN)/python -m devstack.sam_local

test: install-test ## all tests
	@$(BIN)/python -m pytest --junitxml=.local/tests.xml

smoke: install-test ## a minute of them: something of every folder, and a mail through a whole stack (tests/smoke.txt)
	@$(BIN)/python -m pytest @tests/smoke.txt

# One stack whose functions are the built ones. The build is for this machine, and made only if something has changed.
e2e-lambda: install-test install-build ## the built functions in Lambda's own runtime, end to end (Linux; needs Python 3.13)
	@$(BIN)/python -m tools.lambda_build
	@$(BIN)/python -m pytest -n 0 tests/lambda_runtime

bench: install-bench ## measure, and write bench/results.json
	@$(BIN)/python -m bench

screenshots: install-test ## the pictures of the documents, taken anew (needs Chromium)
	@mkdir -p docs/images && TOCSIN_REQUIRE_CHROMIUM=1 TOCSIN_SCREENSHOTS=$(CURDIR)/docs/images $(BIN)/python -m pytest -n 0 tests/console/test_screenshots.py tests/e2e/test_local_pages.py -k 'picture or newcomer'

restore-drill: install-test ## dump, restore elsewhere, go on (DATABASE_URL=… tries a copy of that database; docs/restoring.md)
	@PYTHONPATH=layers/shared $(BIN)/python -m tools.restore_drill

lint: install-test ## style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@for door in functions/*/; do $(BIN)/mypy $$door/app.py || exit 1; done

format: install-test ## lay the code out
	@$(BIN)/ruff check --fix -q .
	@$(BIN)/ruff format -q .

validate: install-build ## are template.yaml and network.yaml valid?
	@$(BIN)/sam validate --lint
	@$(BIN)/sam validate --lint --template network.yaml

scan: install-test ## checkov on the template as CloudFormation would make it (an environment of its own, 290 MB)
	@PYTHONPATH=layers/shared $(BIN)/python -m tools.scan

# Compiled here because Lambda cannot: its folders are read-only, so without .pyc files every cold start compiles all again.
# The C sources that some packages ship beside what was compiled from them are 7 MB that nothing reads.
# What sam prints at its end is left out: it recommends `sam deploy --guided`, which asks a hundred questions.
build: install-build ## what `make deploy` uploads (needs Python 3.13, the functions' runtime)
	@folder="$$($(BIN)/python tools/find_python.py 3.13)" && export PATH="$$folder:$$PATH" && $(BIN)/sam build --cached >/dev/null \
	  && find .aws-sam/build -name '*.c' -delete \
	  && python3.13 -m compileall -q -j 2 --invalidation-mode unchecked-hash .aws-sam/build \
	  && $(BIN)/python -m tests.template.libraries .aws-sam/build && echo "Built: .aws-sam/build"

# No EMAIL_FROM, credentials, region or Python 3.13? It says so, with what to do, before anything is built.
deploy: export ENV := default
deploy: install-build ## into your AWS account: EMAIL_FROM=… (ENV=prod, STACK, REGION, PROFILE, PARAMETERS, SHIFT, YES=1; docs/deploying.md)
	@$(BIN)/python -m tools.deploy check
	@$(MAKE) --no-print-directory build
	@$(BIN)/python -m tools.deploy

clean: ## forget everything that was installed or made here
	rm -rf .venv .venv.old .local .aws-sam

# Each group of packages is locked with hashes in requirements/. Asked every time: it installs what is missing, mends a broken
# .venv, and is done in a moment where there is nothing to do.
.PHONY: $(GROUPS:%=install-%)
$(GROUPS:%=install-%): install-%:
	@$(or $(PYTHON),$(error Tocsin needs Python 3.11 or newer, and there is none on the PATH. Try: make PYTHON=/path/to/python3.13 …)) \
	  -m tools.install $* $(if $(filter-out file,$(origin PYTHON)),--this-python)

# On a fresh machine: `make grade` grades the sample class, `make test` runs every test.
PYTHON      ?= python3
PIP_ARGS    ?=
SUBMISSIONS ?= tests/samples
OUT         ?= reports
ONLY        ?=
VENV        := .venv
BIN         := $(VENV)/bin
READY       := $(VENV)/.ready

.PHONY: setup grade test test-gpu lint bench release generate check clean
.DEFAULT_GOAL := setup

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is older than 3.11; say which to use: make PYTHON=python3.11"; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: $(PYTHON) has no venv module; install it (Debian: apt-get install python3-venv) or: make PYTHON=/path/to/another/python3"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -c constraints.txt -e '.[dev]'
	@touch $@

grade: $(READY)
	$(BIN)/python -m grader $(SUBMISSIONS) --out $(OUT)

test: $(READY)
	$(BIN)/python -m pytest tests/ -n auto --dist worksteal

# Needs a GPU and the extra `gpu`; says so and ends with status 3 where either is missing.
test-gpu: $(READY)
	@$(BIN)/python -m tests.gpu

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every generated file: made again, or compared with what is committed.
GENERATORS := grader.stubs grader.fixtures grader.report.schema handouts.exercises tests.harness.make_samples tests.harness.report.make_goldens handouts.build
generate: $(READY)
	@set -e; for g in $(GENERATORS); do $(BIN)/python -m $$g; done
check: $(READY)
	@set -e; for g in $(GENERATORS); do $(BIN)/python -m $$g --check; done

bench: $(READY)
	@$(BIN)/python -m tests.benchmarks $(if $(ONLY),--only $(ONLY))

release: $(READY)
	$(BIN)/python -m grader.release --out dist/

clean:
	rm -rf $(VENV) reports dist *.egg-info

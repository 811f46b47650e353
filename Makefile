PYTHON ?= python3
VENV ?= .venv
LOWEST ?= .venv-lowest
READY := $(VENV)/.ready
NEW_ENOUGH = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
CORES = --numprocesses auto --maxprocesses 4
INSTALL = -m pip install --quiet --disable-pip-version-check

.PHONY: demo test strict fuzz signals references lowest check clean

demo: $(READY)  ## set up, and run the main job on the embedded example
	$(VENV)/bin/ilpinfer demo

test: $(READY)  ## set up, and run the tests, on up to four cores
	$(VENV)/bin/python -m pytest $(CORES)

strict: $(READY)  ## all tests, slow ones too, with the time limits that a quiet machine keeps
	ILPINFER_STRICT=1 $(VENV)/bin/python -m pytest -m ""

fuzz: $(READY)  ## 100 000 commands on changed input
	$(VENV)/bin/python tests/stress/fuzz.py

signals: $(READY)  ## 300 signals at random moments
	$(VENV)/bin/python tests/stress/signals.py

references: $(READY)  ## the references that come with the package, made anew
	for kind in plain ties infeasible second-order soft-and-hard; do \
	  $(VENV)/bin/ilpinfer reference generate $$kind --output ilpinfer/references/data/$$kind.jsonl.gz || exit; done

lowest:  ## the tests with the lowest versions that pyproject.toml allows
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv $(LOWEST)
	sed -nE 's/.*"([A-Za-z0-9_-]+)>=([0-9.]+).*/\1==\2/p' pyproject.toml | grep -v setuptools >$(LOWEST)/lowest.txt
	$(LOWEST)/bin/python $(INSTALL) --constraint $(LOWEST)/lowest.txt --editable '.[dev]'
	$(LOWEST)/bin/python -m pytest $(CORES)

check: $(READY)  ## linter, formatter and type checker
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

$(READY): pyproject.toml constraints.txt
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(INSTALL) --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) build *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache

PYTHON ?= python3
VENV ?= .venv
READY := $(VENV)/.ready

.PHONY: demo test check bench clean

demo: $(READY)  ## set up, and run the main job on the embedded example
	$(VENV)/bin/ilpinfer demo

test: $(READY)  ## set up, and run the tests
	$(VENV)/bin/python -m pytest

check: $(READY)  ## linter, formatter and type checker
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache

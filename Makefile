PYTHON ?= python3
VENV ?= .venv
LOWEST ?= .venv-lowest
CORE := $(VENV)/.core
READY := $(VENV)/.ready
TOOLS := $(VENV)/tools
NEW_ENOUGH = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
CORES = --numprocesses auto --maxprocesses 4
BACKEND = ilpinfer/kernels/src/backend.py
BUILD = $(abspath $(VENV))/build/$(notdir $(CURDIR))
KERNELS = PATH="$(abspath $(VENV)/bin):$$PATH" $(VENV)/bin/python $(BACKEND)
RUNTIMES = $(shell for name in asan ubsan stdc++; do $${CXX:-c++} -print-file-name=lib$$name.so; done)
CHECKED = ILPINFER_KERNELS=checked LD_PRELOAD="$(RUNTIMES)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
unexport PYTHONDONTWRITEBYTECODE  # child processes would compile each module again
INSTALL = -m pip install --quiet --disable-pip-version-check

.PHONY: demo test kernels docs wheel sizes pythons pages strict bounds quiet fuzz random problems signals lowest check clean

demo: $(CORE)  ## set up the core alone, and run the main job on the embedded example
	$(VENV)/bin/ilpinfer demo

test: $(READY)  ## set up, and run the tests, on up to four cores
	$(VENV)/bin/python -m pytest $(CORES)

kernels: $(CORE)  ## what has changed of the kernels, compiled and copied into the source tree
	$(KERNELS) $(BUILD)

docs: $(VENV)/.docs  ## set up, and build the documentation in docs/_build/html; warnings are errors
	$(VENV)/bin/python -m sphinx -q --fail-on-warning --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

wheel: $(TOOLS)/.ready  ## wheel and source archive in dist/, checked
	rm -rf dist build
	$(TOOLS)/bin/python -m build --outdir dist . >build.log 2>&1 || { cat build.log; exit 1; }
	rm -rf build.log build
	$(TOOLS)/bin/twine check --strict dist/*
	$(TOOLS)/bin/check-wheel-contents dist
	@test -z "$$(find dist -name '*.whl' -size +4000k)" || { echo "the wheel is larger than 4 MB"; exit 1; }

sizes: $(READY) wheel  ## packages and megabytes of a core install, and of one with the extra compare
	$(VENV)/bin/python tests/packaging/install_size.py dist/*.whl

pythons: $(READY) wheel  ## the source archive built and tried with each Python from 3.11 to 3.14 that the system, uv or pyenv has; binary wheels resolved for the others
	$(VENV)/bin/python tests/packaging/pythons.py dist/*.tar.gz

pages: $(READY) wheel  ## each page of the documentation, followed in an empty environment with the wheel alone
	$(VENV)/bin/python tests/packaging/follow_pages.py dist/*.whl

strict: CASES = 2000
strict: $(READY) bounds  ## what `make test` leaves out: slow tests, bounds checks, stress cases
	$(VENV)/bin/python -m pytest -m slow $(CORES)
	cd tests && ../$(VENV)/bin/python -m stress.references 600
	$(VENV)/bin/python tests/stress/fuzz.py --cases 2000 --processes 20

CASES = 10000
bounds: $(READY)  ## tests of compiled code, and 20 000 random problems, with a check of each index; needs GCC
	$(KERNELS) $(BUILD)-checked -DILPINFER_SANITIZE=ON
	$(CHECKED) $(VENV)/bin/python -m pytest $(CORES) $(addprefix tests/,kernels decoding exact search learning)
	printf '%s\n' '--seed 1' '--seed 2 --longest 3' | \
	  $(CHECKED) xargs -P 2 -L 1 $(VENV)/bin/python tests/stress/decoder.py --cases $(CASES)

quiet: $(READY)  ## tests with the time limits that a machine keeps which does nothing else
	ILPINFER_QUIET=1 $(VENV)/bin/python -m pytest $(addprefix tests/,solvers search decoding rulefiles logic)

fuzz: $(READY)  ## 100 000 commands on changed input
	$(VENV)/bin/python tests/stress/fuzz.py

random: $(READY)  ## slow and random tests, with more examples: half an hour or more
	ILPINFER_STRICT=1 $(VENV)/bin/python -m pytest -m "" $(CORES)

PROBLEMS = tests/decoding/test_given.py::test_the_best_labelling_that_has_them \
  tests/decoding/test_questions.py::test_against_all_labellings \
  tests/decoding/test_predicates.py::test_the_best_labellings_under_functions \
  tests/learning/test_all_features.py::test_updates_under_rules_of_every_kind
problems: $(READY)  ## 5000 random problems each of known labels, questions, predicates and joint learning, against brute force
	ILPINFER_EXAMPLES=5000 $(VENV)/bin/python -m pytest -m "" --hypothesis-show-statistics $(PROBLEMS)

signals: $(READY)  ## 300 signals at random moments
	$(VENV)/bin/python tests/stress/signals.py

lowest:  ## the tests with the lowest versions that pyproject.toml allows
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv $(LOWEST)
	sed -nE 's/.*"([A-Za-z0-9_-]+)>=([0-9.]+).*/\1==\2/p' pyproject.toml | grep -v -e nanobind -e scikit-build-core >$(LOWEST)/lowest.txt
	$(LOWEST)/bin/python $(INSTALL) --constraint $(LOWEST)/lowest.txt --editable '.[dev]'
	$(LOWEST)/bin/python -m pytest $(CORES)

check: $(READY)  ## linter, formatter, type checker, and the size of each package
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/python tests/packaging/growth.py

$(READY): EXTRAS = [dev]
$(CORE) $(READY): pyproject.toml constraints.txt
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(INSTALL) --constraint constraints.txt nanobind scikit-build-core $$($(KERNELS))
	PATH="$(abspath $(VENV)/bin):$$PATH" ILPINFER_BUILD=$(BUILD) \
	  $(VENV)/bin/python $(INSTALL) --constraint constraints.txt --no-build-isolation --editable '.$(EXTRAS)'
	@touch $@ $(CORE)

$(VENV)/.docs: $(READY)
	PATH="$(abspath $(VENV)/bin):$$PATH" ILPINFER_BUILD=$(BUILD) \
	  $(VENV)/bin/python $(INSTALL) --constraint constraints.txt --no-build-isolation --editable '.[docs]'
	@touch $@

$(TOOLS)/.ready: constraints.txt
	@$(NEW_ENOUGH)
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python $(INSTALL) --constraint constraints.txt build check-wheel-contents twine
	@touch $@

clean:
	rm -rf $(VENV) $(LOWEST) build docs/_build ilpinfer/kernels/*.so *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache

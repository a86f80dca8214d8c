# Every command does its own set-up, the first time: about 2 min. Times are those of two idle cores.
#
#   make test         lint, types, import directions, tests                  about 5 min
#   make test-slow    slow studies, planted faults and benchmarks as well    about 40 min
#   make test-deep    deep learners, in an environment of their own          about 10 min, with 1.4 GB to install
#   make test-versions  a task end to end with the oldest and the newest packages  about 2 min
#   make coverage     the tests alone, and what they cover                   about 7 min
#   make fuzz         the property tests, with examples drawn anew           10 min, or as long as you like
#   make fuzz-readers damaged texts and files, for everything that reads      about 30 min; SHARE=0.1 for a tenth
#   make docs         the documentation site, in site/                       about 1 min
#   make reproduce    the paper's experiments and the report on them         about 3 min
#
#   make lint         ruff, mypy and import directions                       about 1.5 min
#   make format       ruff's fixes and formatting                            seconds
#   make names        generated files: public names, learners, environments  seconds
#   make goldens      the record of what the package computes                about 1 min
#   make constraints  pin the newest versions for this Python                about 2 min
#   make dist         the wheel and the source archive, in dist/             seconds
#   make clean        remove environments, caches and results                seconds

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PYVER  := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# Versions are pinned for the Pythons we test on; other Pythons get the newest compatible versions.
PINS   := $(wildcard constraints/python$(PYVER).txt)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(addprefix -c ,$(PINS))

.DEFAULT_GOAL := help
.PHONY: help reproduce test test-slow test-deep test-versions coverage fuzz fuzz-readers docs lint format names goldens constraints dist clean

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

$(VENV)/installed: pyproject.toml $(PINS)
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[test]'
	@echo "compiling what a first run needs (once)"
	@$(BIN)/praemia run warehouse-3 --episodes 10 --runs 1 > $(VENV)/warm.txt 2>&1 || (cat $(VENV)/warm.txt; exit 1)
	@touch $@

reproduce: $(VENV)/installed
	$(BIN)/praemia reproduce

test: lint
	$(BIN)/python -m pytest -n auto

test-slow: $(VENV)/installed
	$(BIN)/python -m pytest -n auto -m 'slow or not slow'

# Run the tests of make test and measure what they cover. Below Python 3.12 this takes nearly twice as long.
coverage: export COVERAGE_CORE = $(shell $(PYTHON) -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")')
coverage: $(VENV)/installed
	$(BIN)/python -m pytest -n auto --cov

# make test draws the same examples every time. Draw others, for a while: make fuzz MINUTES=30
MINUTES ?= 10
fuzz: $(VENV)/installed
	$(BIN)/python tools/fuzz.py --minutes $(MINUTES)

SHARE ?= 1
fuzz-readers: $(VENV)/installed
	$(BIN)/python tools/fuzz_readers.py --share $(SHARE)

# Deep learners have an environment of their own, 1.4 GB. Where pip does not find the CPU build of torch that is pinned,
# tell it where to look (PIP_EXTRA_INDEX_URL), or leave the pins out: make test-deep DEEP_PINS=
DEEP      := .venv-deep
DEEP_PINS ?= constraints/deep.txt

$(DEEP)/installed: pyproject.toml $(PINS) $(DEEP_PINS)
	$(PYTHON) -m venv $(DEEP)
	$(DEEP)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
		$(addprefix -c ,$(PINS) $(DEEP_PINS)) -e '.[deep,plot]' jax matplotlib pytest hypothesis
	@touch $@

# The networks are small: threads would only wait for each other.
test-deep: export OMP_NUM_THREADS = 1
test-deep: $(DEEP)/installed
	$(DEEP)/bin/python -m pytest tests/deep
	$(DEEP)/bin/python -m pytest tests/docs/test_documents.py tests/docs/test_examples.py -k 'deep or away'
	$(DEEP)/bin/python -m pytest tests/test_benchmarks.py -m slow -k deep

# The oldest packages that pyproject.toml allows, and the newest, each in an environment of its own.
test-versions:
	for age in oldest newest; do \
		$(PYTHON) -m venv --clear $(VENV)-$$age && \
		if [ $$age = oldest ]; then $(PYTHON) tools/versions.py --oldest; fi > $(VENV)-$$age/pins.txt && \
		$(VENV)-$$age/$(notdir $(BIN))/python -m pip install --quiet --disable-pip-version-check -c $(VENV)-$$age/pins.txt . && \
		$(VENV)-$$age/$(notdir $(BIN))/python tools/versions.py || exit 1; \
	done

# Build the documentation site in site/ and run its tutorials; warnings are errors.
docs: $(VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Benchmarks and what makes the pages' pictures are not run here: their types tell when a name that they use has moved.
SCRIPT_TYPES = --follow-imports=silent --no-warn-return-any --allow-subclassing-any

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 & $(BIN)/mypy && wait $$!
	$(BIN)/mypy $(SCRIPT_TYPES) benchmarks docs
	$(BIN)/lint-imports --no-cache

format: $(VENV)/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Update generated files after a change of the public names or the list of learners.
names: $(VENV)/installed
	$(BIN)/python tools/names.py

# Record what the package computes, after a change that is meant to change it.
goldens: $(VENV)/installed
	$(BIN)/python tests/goldens/make.py

# Pin the newest compatible versions for this Python.
constraints:
	rm -rf $(VENV)/fresh && $(PYTHON) -m venv $(VENV)/fresh
	$(VENV)/fresh/bin/python -m pip install --quiet --disable-pip-version-check '.[test]'
	$(VENV)/fresh/bin/python -m pip freeze --exclude praemia > constraints/python$(PYVER).txt
	rm -rf $(VENV)/fresh

# Write the wheel and the source archive to dist/.
dist: $(VENV)/installed
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python -c 'import hatchling.build; print(hatchling.build.build_sdist("dist"))'

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest $(DEEP) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage dist results site

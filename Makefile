# One virtual environment, made by whichever target comes first; only Python 3.11+ is needed.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check

.PHONY: demo test test-quick test-all soak soak-if-due lint lint-page lint-types bits golden mutants coverage refusals fuzz \
	bench bench-page study site docs docs-check slides counts-page gallery lessons pages papers paper clean

demo: $(VENV)/.main
	$(VENV)/bin/pivotree compare chain:100 -o demo

# Tests are rewritten when they are first read: where that is not kept, every run takes 10 s more.
unexport PYTHONDONTWRITEBYTECODE

# Neighbours share models and compiled programs: each process takes a run of tests, then steals.
PYTEST := $(VENV)/bin/python -m pytest -n auto --dist worksteal
PLAIN := not product and not browser and not docs and not peers and not soak

test: MARKS := $(PLAIN)
test: $(VENV)/.test
	$(PYTEST) -m "$(MARKS)"

# The heart alone: matrix, orders, elimination, records; without machine code and large trees.
HEART := $(filter-out tests/kkt/machine tests/kkt/scale,$(wildcard tests/kkt/[a-z]*)) tests/orderings
test-quick: $(VENV)/.test
	$(PYTEST) -m "$(PLAIN)" $(HEART)

# All but the soak.
test-all: $(VENV)/.peers
	$(MAKE) test MARKS="not soak"

# Before a release, and in .ci/run when a file of tests/soak_paths.txt is not as it was at the last
# soak: the list of their contents is kept.
SOAKED = git ls-files -s -- $$(grep -v "^\#" tests/soak_paths.txt)
soak: $(VENV)/.peers
	$(PYTEST) -m soak
	$(SOAKED) > tests/soaked.txt

# Of these files it is the soak of commands, files and processes that is due, not that of numbers.
WATCHES := $(addprefix tests/hostile/test_,ended.py fuzz.py hostile_writing.py injection.py) \
	tests/analysis/commands tests/analysis/report tests/analysis/sweep tests/kkt/machine/test_machine_store.py
soak-if-due: $(VENV)/.peers
	@$(SOAKED) | cmp -s - tests/soaked.txt || $(PYTEST) -m soak $(WATCHES)

FOLDERS := kkt orderings analysis papers src tests docs benchmarks setup.py
lint: $(VENV)/.test
	$(VENV)/bin/python -m ruff check $(FOLDERS)
	$(VENV)/bin/python -m ruff format --check $(FOLDERS)
	$(VENV)/bin/python docs/architecture.py --check
	$(VENV)/bin/python -m mypy
	@$(MAKE) --no-print-directory lint-page lint-types

# Names and arguments in the explorer's modules.  The tools come from npm, once, and with them
# axe-core, by which a test looks at the page; where they cannot be had, one line says so.
NODE := build/node
lint-page:
	@if test -f $(NODE)/node_modules/axe-core/axe.min.js || npm install --prefix $(NODE) --silent --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 \
		typescript@5.9.3 eslint@9.39.5 axe-core@4.14.1 >/dev/null 2>&1; then \
		$(NODE)/node_modules/.bin/tsc -p tests/analysis/explorer/jsconfig.json && \
		$(NODE)/node_modules/.bin/eslint -c tests/analysis/explorer/eslint.config.mjs analysis/explorer tests/analysis/explorer; \
	else echo "typescript and eslint could not be installed by npm: the page's modules are not checked"; fi

# What pyright knows of Pivotree in a user's file, in its strict mode.
lint-types:
	@if test -x $(NODE)/node_modules/.bin/pyright || npm install --prefix $(NODE) --silent --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 \
		pyright@1.1.407 >/dev/null 2>&1; then \
		$(NODE)/node_modules/.bin/pyright --pythonpath $(VENV)/bin/python tests/typed_consumer.py; \
	else echo "pyright could not be installed by npm: types are checked by mypy alone"; fi

# What every order gives on some robots, to the last bit, and what every command prints: hashes and
# files that are kept in tests/guard.
bits: $(VENV)/.test
	$(VENV)/bin/python tests/guard/bits.py

golden: $(VENV)/.test
	$(VENV)/bin/python tests/guard/golden.py

# How many of 200 small faults in the code the tests find.
mutants: $(VENV)/.test
	$(VENV)/bin/python tests/guard/mutants.py

# Fails for a branch of a reader of files (pyproject.toml lists them) that no test runs.
TESTS := tests
coverage: TESTS := tests/kkt/model tests/kkt/arithmetic tests/orderings tests/analysis/sweep \
	tests/analysis/commands tests/kkt/matrix/test_loops_refused.py tests/hostile/test_hostile_reading.py \
	tests/peers/test_mjcf.py tests/peers/test_loops_of_mujoco.py tests/test_plugins.py tests/test_field.py tests/kkt/test_refused.py
COVERAGE := $(VENV)/bin/python -m coverage
coverage: $(VENV)/.peers
	$(COVERAGE) erase
	$(COVERAGE) run -m pytest -n auto --dist worksteal -m "not soak" $(TESTS)
	$(COVERAGE) combine -q
	$(COVERAGE) report

# Fails for a refusal that no test names by its words; TESTS and ROOMS choose a part of each.
ROOMS := analysis kkt orderings papers
refusals: $(VENV)/.peers
	rm -f build/refusals.jsonl
	PYTHONPATH=tests $(PYTEST) -p refusals -m "not soak and not browser and not docs" $(TESTS)
	$(VENV)/bin/python tests/refusals.py $(ROOMS)

SECONDS ?= 600
SEED ?= 0
fuzz: $(VENV)/.test
	$(VENV)/bin/python tests/hostile/fuzz.py --seconds $(SECONDS) --seed $(SEED)

bench: $(VENV)/.bench
	$(VENV)/bin/python benchmarks/table.py
	$(VENV)/bin/python benchmarks/tracing.py

bench-page: $(VENV)/.bench
	$(VENV)/bin/python benchmarks/table.py --page

study: $(VENV)/.peers
	cd docs/study && for part in measure facts pictures; do ../../$(VENV)/bin/python $$part.py || exit; done

# One folder of static files: home, the page to play with, lessons, slides, documents.
site docs: $(VENV)/.docs
	$(VENV)/bin/python docs/site/build.py build/docs

# Makes anew what is generated and compares, builds the site once, follows its links once.
docs-check: $(VENV)/.peers $(VENV)/.docs
	$(VENV)/bin/python docs/check.py

slides: $(VENV)/.main
	$(VENV)/bin/python docs/slides/make.py build/slides

counts-page: $(VENV)/.main
	$(VENV)/bin/python docs/counts_page.py

# Parts of the site alone, into build/made.
pages: $(VENV)/.main
	$(VENV)/bin/python docs/generated.py build/made orders

gallery: $(VENV)/.main
	$(VENV)/bin/python docs/generated.py build/made gallery

# The notebooks, which are kept; with FURTHER="swing_up reach" those, and their pages.
lessons: $(VENV)/.main
	PYTHONPATH=docs $(VENV)/bin/python docs/lessons/make.py $(FURTHER)

papers: $(VENV)/.main
	$(VENV)/bin/python papers/make.py

# The article on Pivotree for JOSS, where pandoc and LaTeX are.
paper:
	mkdir -p build && cd docs/paper && pandoc paper.md --citeproc --metadata author="The Pivotree founders" \
		--fail-if-warnings -o ../../build/paper.pdf

# pip installs groups of dependencies from 25.1 on; a Python may bring an older one.
$(VENV)/.pip:
	$(PYTHON) -c "import sys; sys.exit('pivotree needs Python 3.11 or newer: make PYTHON=python3.12' if sys.version_info < (3, 11) else 0)"
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade "pip>=25.1"
	touch $@

$(VENV)/.main: $(VENV)/.pip pyproject.toml
	$(PIP) install --quiet --editable .
	touch $@

$(VENV)/.docs: $(VENV)/.pip pyproject.toml
	$(PIP) install --quiet --editable . --group docs
	touch $@ $(VENV)/.main

EXTRAS := widget
$(VENV)/.test: $(VENV)/.pip pyproject.toml
	$(PIP) install --quiet --editable ".[$(EXTRAS)]" --group test
	touch $@ $(VENV)/.docs $(VENV)/.main

$(VENV)/.peers: $(VENV)/.pip pyproject.toml
	$(PIP) install --quiet --editable ".[$(EXTRAS),robots,mujoco,jax,lessons]" --group peers
	touch $@ $(VENV)/.test $(VENV)/.docs $(VENV)/.main

$(VENV)/.bench: $(VENV)/.pip pyproject.toml
	$(PIP) install --quiet --editable ".[$(EXTRAS),robots,mujoco,jax,lessons]" --group bench
	touch $@ $(VENV)/.peers $(VENV)/.test $(VENV)/.docs $(VENV)/.main

clean:
	rm -rf $(VENV) demo build dist *.egg-info

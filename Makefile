# Everyday commands; `make` alone lists them. The set-up behind `venv` is environment/bootstrap.py.
#   make PYTHON=python3.12 venv    picks the interpreter of .venv (it stays until another one is picked)

ifdef PYTHON
BOOTSTRAP := $(PYTHON) environment/bootstrap.py
else
BOOTSTRAP := python3 environment/bootstrap.py --keep-python
endif
BIN := .venv/bin
NAME ?= all

.DEFAULT_GOAL := help
.PHONY: help venv engines run drive test check lint docs bench soak clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

venv: ## make or update .venv (all other targets do this first)
	@$(BOOTSTRAP)

engines: venv ## add the engines that tests and benchmarks compare ours with
	@$(BOOTSTRAP) --engines

run: venv ## drive through a town by LIDAR with all nodes over DDS, 3D cockpit, report at the end
	@$(BIN)/proving-ground launch urban cockpit:=open

drive: venv ## start the vehicle with joystick teleop and show what goes on
	@$(BIN)/proving-ground launch drive --show

test: lint engines ## check the code and run all tests
	@$(BIN)/python -m environment.all_tests

check: lint ## check the code and run the quick pure tests of what has changed since main, in about two minutes
	@$(BIN)/python -m environment.check

lint: venv ## check style (ruff), spelling (codespell), which room imports which (import-linter) and types (mypy)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/lint-imports
	$(BIN)/mypy

docs: venv ## build the documentation site; open site/index.html
	@$(BOOTSTRAP) --docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

bench: engines ## measure and save benchmark/results.json; NAME=dynamics picks one benchmark
	@$(BIN)/proving-ground bench $(NAME) --save benchmark/results.json
	@$(BIN)/python -m benchmark.readme_table

soak: venv ## an hour of all nodes over DDS: memory, lost steps, drift of the clock (SECONDS=3600)
	@$(BIN)/python -m benchmark.soak $(or $(SECONDS),3600)

clean: ## remove .venv, build results and caches
	rm -rf .venv build install log site .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Kafeneio. Needs python3 (3.11 or later) and make; everything else is set up in .venv.
# `make help` lists the targets.

PYTHON ?= python3
BIN := .venv/bin
PACKAGES := libs/games libs/players libs/stubs libs/runtime libs/client services/rules services/clock \
	services/settlement services/matchmaking deploy/computers deploy/house deploy/up
EDITABLE := $(foreach package,$(PACKAGES),-e $(package))
SOURCES := libs services deploy tests
SETUP := .venv/.ready
SETUP_NEEDS := requirements.lock pyproject.toml $(foreach package,$(PACKAGES),$(package)/pyproject.toml) \
	libs/stubs/generate.py libs/stubs/hatch_build.py $(shell find protos -name '*.proto')

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(SETUP) ## set up .venv from requirements.lock, and make the stubs from protos/

$(SETUP): $(SETUP_NEEDS)
	test -e .venv/.made || { $(PYTHON) -m venv --clear .venv && touch .venv/.made; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(EDITABLE)
	touch $@

run: setup ## start the house: every service, with a PostgreSQL of its own
	KAFENEIO_LOG_FORMAT=$${KAFENEIO_LOG_FORMAT:-console} $(BIN)/kafeneio serve house

demo: setup ## let two programs play for a stake in a house of its own (GAME=portes, LEAVE=1)
	$(BIN)/kafeneio demo $(or $(GAME),portes) $(if $(LEAVE),--leave)

test: setup lint ## run everything that must pass: lint, types, contracts, tests
	$(BIN)/python -m pytest -n $(or $(WORKERS),2) tests

drills: setup ## run the whole matrices, and real processes under fire (not in `make test`)
	$(BIN)/python -m pytest -n $(or $(WORKERS),2) -m drill tests

lint: setup ## ruff, mypy, import contracts, buf lint and buf breaking, alert rules
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python deploy/checks/contracts.py
	$(BIN)/python deploy/checks/alerts.py

bench: setup ## measure speed, each beside a bare baseline in the same run
	$(BIN)/python -m tests.bench

strength: setup ## measure the computer players against a random and a plain one (GAMES=400, WORKERS=2)
	$(BIN)/python -m tests.strength --games $(or $(GAMES),400) --workers $(or $(WORKERS),2)

simulation: setup ## simulate a day of the queue: waiting times and rating gaps (SEED=1, PLAYERS=2000)
	$(BIN)/python -m tests.simulation --seed $(or $(SEED),1) --players $(or $(PLAYERS),2000)

closures: setup ## install each lib, service and image alone and import it
	$(BIN)/python deploy/checks/closures.py

lock: setup ## make requirements.lock anew
	$(BIN)/python deploy/checks/lock.py

clean: ## remove what the targets made
	rm -rf .venv build libs/stubs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help setup run demo test drills lint bench strength simulation closures lock clean

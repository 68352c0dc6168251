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

up: setup ## start the scaled house: two replicas of each service, PostgreSQL, NATS, Envoy (KAFENEIO_UP_REPLICAS=2)
	$(BIN)/kafeneio serve up

demo: setup ## let two programs play for a stake in a house of its own (GAME=portes, LEAVE=1)
	$(BIN)/kafeneio demo $(or $(GAME),portes) $(if $(LEAVE),--leave)

test: setup lint ## run everything that must pass: lint, types, contracts, tests
	$(BIN)/python -m pytest -n $(or $(WORKERS),3) --dist loadgroup tests

drills: setup ## run the whole matrices, and real processes under fire (not in `make test`)
	$(BIN)/python -m pytest -n $(or $(WORKERS),2) -m drill --ignore tests/drills tests
	$(BIN)/python -m pytest -n 0 -m drill tests/drills

lint: setup ## ruff, mypy, import contracts, buf lint and buf breaking, alert rules
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python deploy/checks/contracts.py
	$(BIN)/python deploy/checks/alerts.py

bench: setup ## measure speed, each beside a bare baseline in the same run
	$(BIN)/python -m tests.bench

load: setup ## load a house with scripted players: TABLES=12 SECONDS=30 HOUSE=all|embedded|scaled, or ADDRESS=127.0.0.1:8080
	$(BIN)/python -m tests.load --tables $(or $(TABLES),12) --seconds $(or $(SECONDS),30) \
		$(if $(ADDRESS),--address $(ADDRESS),--house $(or $(HOUSE),all))

strength: setup ## measure the computer players against a random and a plain one (GAMES=400, WORKERS=2)
	$(BIN)/python -m tests.strength --games $(or $(GAMES),400) --workers $(or $(WORKERS),2)

simulation: setup ## simulate a day of the queue: waiting times and rating gaps (SEED=1, PLAYERS=2000)
	$(BIN)/python -m tests.simulation --seed $(or $(SEED),1) --players $(or $(PLAYERS),2000)

closures: setup ## install each lib, service and image alone and import it
	$(BIN)/python deploy/checks/closures.py

audit: setup ## ask whether anything in requirements.lock is known to be vulnerable
	$(BIN)/python deploy/checks/audit.py

lock: setup ## make requirements.lock anew
	$(BIN)/python deploy/checks/lock.py

# The page, its client and its tests in a browser. They need node (20 or later) and npm beside python3.
CLIENT := libs/client/typescript
CLIENT_BUILT := $(CLIENT)/dist/.built
PAGE := deploy/web
PAGE_BUILT := $(PAGE)/dist/.built
BROWSER := tests/browser
BROWSER_READY := $(BROWSER)/node_modules/.ready
CHROMIUM ?= /usr/bin/chromium

docs: setup ## write the API reference from the comments in protos/ to build/docs
	$(BIN)/python -m deploy.docs.reference

web: setup $(PAGE_BUILT) docs ## open the house, Envoy and the page on one port (PORT=8080)
	$(BIN)/python $(PAGE)/serve.py --port $(or $(PORT),8080)

web-setup: setup $(PAGE_BUILT) $(BROWSER_READY) ## set up what the page and its tests need

web-test: web-setup ## check the TypeScript client, the page and their tests: types, lint, vitest
	cd $(CLIENT) && npm run --silent check && npm test --silent
	cd $(PAGE) && npm run --silent check && npm test --silent
	cd $(BROWSER) && npm run --silent check

browser: setup $(PAGE_BUILT) $(BROWSER_READY) ## play in a real browser, against a house of its own; pictures in build/browser
	@test -x $(CHROMIUM) || { echo "No browser at $(CHROMIUM): install one (Debian: apt-get install chromium)," \
		"or say where it is with CHROMIUM=..."; exit 1; }
	cd $(BROWSER) && CHROMIUM=$(CHROMIUM) npm test --silent

$(CLIENT_BUILT): $(shell find protos -name '*.proto') $(shell find $(CLIENT)/src -name '*.ts' -not -path '*/generated/*') \
		$(addprefix $(CLIENT)/,package-lock.json generate.py tsconfig.json) $(SETUP)
	@command -v npm >/dev/null || { echo "The page needs node (20 or later) and npm (Debian: apt-get install nodejs npm)."; exit 1; }
	cd $(CLIENT) && npm ci --loglevel=error && ../../../$(BIN)/python generate.py && npm run --silent build
	touch $@

$(PAGE_BUILT): $(CLIENT_BUILT) $(shell find $(PAGE)/src $(PAGE)/public -type f) \
		$(addprefix $(PAGE)/,index.html package-lock.json tsconfig.json vite.config.ts)
	cd $(PAGE) && npm ci --loglevel=error && npm run --silent build
	touch $@

$(BROWSER_READY): $(BROWSER)/package-lock.json $(CLIENT_BUILT)
	cd $(BROWSER) && npm ci --loglevel=error
	touch $@

clean: ## remove what the targets made
	rm -rf .venv build libs/stubs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help setup run up demo test drills lint bench load strength simulation closures audit lock docs web web-setup web-test browser clean

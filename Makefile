# Every target does its own set-up from a bare python3 (>= 3.11) with venv and pip; the second time it is quick.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8722
DOCS_PORT ?= 8780
BIN := $(VENV)/bin
SET_UP = scripts/set_up.py $(VENV)
COMPILE = $(BIN)/uv pip compile -q pyproject.toml --group build --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate $(UPGRADE)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help serve install test check conformance clients connectors bench eval soak sbom dist audit lock screenshots catalogue \
	reference docs docs-serve clean

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# Every package in the version and with the hash of the lock file; then the program itself, built with what was installed.
$(VENV)/.program: pyproject.toml requirements.lock
	@$(PYTHON) $(SET_UP) requirements.lock --program
	@touch $@

$(VENV)/.develop: $(VENV)/.program requirements-dev.lock
	@$(PYTHON) $(SET_UP) requirements-dev.lock
	@touch $@

# The driver of PostgreSQL only where the settings name such a database.
install: $(VENV)/.program ## the program at .venv/bin/tokonoma
	@$(BIN)/python $(SET_UP) requirements-postgres.lock --if-postgresql
	@echo "installed: $(CURDIR)/$(BIN)/tokonoma"

serve: $(VENV)/.program ## HTTP on 127.0.0.1:8722 (PORT= changes it)
	@$(BIN)/python $(SET_UP) requirements-postgres.lock --if-postgresql
	@exec $(BIN)/tokonoma serve --port $(PORT)

check: $(VENV)/.develop ## ruff, pyright strict, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

test: check ## everything under 12 minutes on 2 cores
	$(BIN)/pytest -q -n 2 --dist worksteal

soak: $(VENV)/.develop ## the full counts of kills, races and random cases
	TOKONOMA_SOAK=1 $(BIN)/pytest -q -m soak

conformance: $(VENV)/.develop ## the official MCP conformance suite, both eras
	$(BIN)/pytest -q tests/conformance tests/oauth_clients/test_suite.py

clients: $(VENV)/.develop ## real OAuth clients against the real server, also Claude Code (235 MB from npm)
	$(BIN)/pytest -q -rs tests/oauth_clients

connectors: $(VENV)/.develop ## all declared tools of services against ../shared/connectors, if it is there
	$(BIN)/pytest -q -rs tests/connectors/test_descriptions.py

bench: $(VENV)/.develop ## cold start, memory, calls, durable writes and search, as ratios
	$(BIN)/python -m bench

eval: $(VENV)/.develop ## search quality on the sets beside the project, through the real tools
	$(BIN)/python -m bench.quality --modes words,vectors,both
	$(BIN)/python -m bench.notes --turns
	$(BIN)/python -m bench.recall --paraphrases
	$(BIN)/python -m bench.fresh
	$(BIN)/python -m bench.library

screenshots: $(VENV)/.develop ## pictures of the pages for README and guides, into docs/pictures
	PYTHONPATH=tests $(BIN)/python -m web.screenshots

sbom: $(VENV)/.develop ## the software bill of materials (CycloneDX) at build/tokonoma.cdx.json
	$(BIN)/python scripts/make_sbom.py build/tokonoma.cdx.json
	@echo "written: build/tokonoma.cdx.json"

build/audit/.ready: requirements-audit.lock
	@$(PYTHON) scripts/set_up.py build/audit requirements-audit.lock
	@touch $@

audit: build/audit/.ready ## ask the advisory service about every locked package
	@$(PYTHON) scripts/audit.py build/audit/bin/pip-audit requirements-postgres.lock requirements-dev.lock

lock: $(VENV)/.develop ## write the lock files again (UPGRADE=--upgrade takes the newest versions)
	$(BIN)/python -m pip install -q uv
	$(COMPILE) --extra postgres --extra otel --extra dev -o requirements-dev.lock
	$(COMPILE) -c requirements-dev.lock -o requirements.lock
	$(COMPILE) --extra postgres -c requirements-dev.lock -o requirements-postgres.lock
	$(BIN)/uv pip compile -q --group audit --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		$(UPGRADE) -o requirements-audit.lock
	$(BIN)/uv pip compile -q --group pyproject.toml:docs --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate $(UPGRADE) -o requirements-docs.lock
	$(BIN)/uv pip compile -q --group dist --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		$(UPGRADE) -o requirements-dist.lock

dist: $(VENV)/.develop build/tools/.ready ## wheel, sdist, MCPB bundle and server.json in dist/, each tried as people install it
	$(BIN)/python -m scripts.dist

build/tools/.ready: requirements-dist.lock
	@$(PYTHON) scripts/set_up.py build/tools requirements-dist.lock
	@touch $@

catalogue: $(VENV)/.develop ## rewrite the generated catalogue of tools
	$(BIN)/python -m tokonoma.catalogue

reference: $(VENV)/.develop ## rewrite docs/reference from the code
	$(BIN)/python docs/make_reference.py

# The tools of the site have an environment of their own: the program and its tests need none of them.
$(VENV)-docs/.ready: requirements-docs.lock
	@$(PYTHON) scripts/set_up.py $(VENV)-docs requirements-docs.lock
	@touch $@

docs: $(VENV)-docs/.ready ## the documentation as a site in both languages at build/site
	$(VENV)-docs/bin/python scripts/make_site.py

docs-serve: $(VENV)-docs/.ready ## the same, served on 127.0.0.1:8780 (DOCS_PORT= changes it)
	$(VENV)-docs/bin/python scripts/make_site.py --serve $(DOCS_PORT)

clean: ## forget the virtual environment and the Node packages
	rm -rf $(VENV) $(VENV)-docs node_modules .make

# Skillmesh. `make` alone lists what there is.
VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?=
ASK ?=
ARGS ?=
WORKERS ?= auto
PROTO_BASE ?= proto/image.binpb
SERVICE_PROTOS := proto/skillmesh/v1/skill_service.proto proto/skillmesh/v1/mesh_service.proto

export PYTHON
export PYTHONUNBUFFERED = 1

.DEFAULT_GOAL := help
.PHONY: help run test check lint format types layers proto proto-check bench wheel clean dev

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: ## Start the mesh on loopback and ask a sample question; ASK="..." asks that one and exits
	@scripts/venv $(VENV) run
ifeq ($(strip $(ASK)),)
	@$(BIN)/skillmesh up --sample
else
	@$(BIN)/skillmesh up --exit --ask "$$ASK"
endif

export ASK

dev: ## Set up the virtual environment with the development tools
	@scripts/venv $(VENV) dev

test: dev ## Run all tests (ARGS="-k name" for some; real Consul where `consul` is on PATH)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

check: lint types layers proto-check ## All static checks

lint: dev ## ruff: lint and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: dev ## Rewrite the sources in the project's format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: dev ## mypy --strict on product and tests
	@$(BIN)/mypy

layers: dev ## import-linter: the layers of the house
	@$(BIN)/lint-imports --no-logo

proto: dev ## Generate the code for proto/ anew
	@$(BIN)/python -m grpc_tools.protoc -I proto --python_out=proto --pyi_out=proto proto/skillmesh/v1/*.proto
	@$(BIN)/python -m grpc_tools.protoc -I proto --grpc_python_out=proto $(SERVICE_PROTOS)

proto-check: proto ## Lint proto/, compare with the released image, and see that the generated code is current
	@$(BIN)/buf lint
	@$(BIN)/buf breaking --against $(PROTO_BASE)
	@git diff --exit-code --stat -- proto/skillmesh/v1 || \
	  { echo "The generated code is not current: commit what 'make proto' wrote." >&2; exit 1; }

bench: dev ## Benchmarks, as ratios measured side by side
	@for file in benchmarks/*.py; do echo "== $$file"; PYTHONPATH=. $(BIN)/python $$file $(ARGS) || exit 1; done

wheel: dev ## Build the wheel into dist/
	@$(BIN)/python -m pip wheel --disable-pip-version-check --quiet --no-deps --wheel-dir dist .

clean: ## Remove the virtual environment and everything built
	@rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* .tools

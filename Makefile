# Everything starts here: `make demo` shows the compiler at work, `make test` judges it.
# Both set up what they need on a machine with Python (3.11 or later), make and a C compiler.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types layers unit nightly bless docs bench parity gpu wheel compiled-wheel clean

help: ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The environment is made anew only when the project's description changes.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "prismc needs Python 3.11 or later; set PYTHON=/path/to/python3"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(READY) ## build the TF32 matrix product for sm_80 and sm_90a, and run it against NumPy
	$(BIN)/prismc build examples/tf32_matmul.prism -o build/demo \
		--target sm_80 --target sm_90a --emit cuda --emit ptx --emit cubin --report
	$(BIN)/prismc run examples/tf32_matmul.prism --grid 40 --schedules 4 \
		--arg 'A=randn(77, 50)' --arg 'B=randn(50, 60)' --arg 'C=zeros(77, 60)' \
		--arg M=77 --arg N=60 --arg K=50 --expect 'C ~ A @ B'

test: check unit ## run everything that continuous integration runs

check: lint types layers ## all static checks

lint: $(READY) ## ruff
	$(BIN)/ruff check .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

layers: $(READY) ## who may import whom
	$(BIN)/lint-imports

unit: $(READY) ## the test suite
	$(BIN)/pytest -q -n $(JOBS)

nightly: $(READY) ## the tests that take minutes
	$(BIN)/pytest -q -n $(JOBS) -m nightly

bless: $(READY) ## rewrite golden files from what the compiler says now, and show the difference
	PRISMC_BLESS=1 $(BIN)/pytest -q -n $(JOBS) tests || true
	git --no-pager diff --stat -- tests

docs: $(READY) ## build the site of docs/ into build/site/html
	$(BIN)/python docs/site/build.py

bench: $(READY) ## measure start-up, checking and building
	$(BIN)/python benchmarks/startup.py

parity: $(READY) ## machine code beside hand-written CUDA, into docs/parity.md
	$(BIN)/python benchmarks/parity.py --write

gpu: $(READY) ## examples on a GPU: values, times beside those of libraries
	PYTHONPATH=benchmarks:tests $(BIN)/python -m on_gpu

wheel: $(READY) ## build the wheel into dist/
	$(BIN)/python -m build --wheel

compiled-wheel: $(READY) ## the same with the inner stages as C extensions, for this Python
	PRISMC_COMPILED=1 $(BIN)/python -m build --wheel --no-isolation --outdir dist/compiled

clean: ## remove what was built, not the environment
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

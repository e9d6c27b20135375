# Two commands: `make demo` and `make test`; each makes the environment first, once.
PYTHON ?= python3
BIN := .venv/bin

demo: .venv/ready
	$(BIN)/python run.py -m +experiments=demo_claims
	$(BIN)/python run.py -m +experiments=demo_sample
	$(BIN)/python run.py task=report runs=runs/demo out=runs/demo/report
	@echo 'With a pre-trained encoder (task=encoder, then encoder=e5_small) Claim-Only has 39.5 on alpha1 of data=claims, where Linear has 40.8 and the paper 38.2: docs/encoders.md'

test: .venv/ready
	$(BIN)/pytest

lint: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# torch and pip are several hundred MB: pip's own settings (index, cache, proxy) apply.
.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed: make PYTHON=python3.12 ...' >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || sh -c 'test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "installing python3-venv with apt-get" && apt-get update -qq && apt-get install -y -qq python3-venv' || { echo 'the venv module is missing: apt-get install python3-venv' >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

.PHONY: demo test lint clean

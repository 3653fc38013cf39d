# `make demo` and `make test` each set up all they need; run either on a fresh machine.
PYTHON ?= python3
MINUTES ?= 60
MOMENTS ?= 20
MATRIX ?= 3.11 3.12 3.13 oldest
BIN := .venv/bin
READY := .venv/.ready
PYTEST := $(BIN)/python -m pytest -q

.PHONY: demo test test-all test-slow typescript test-gpu test-matrix test-cluster attack lint hooks docs bench clean

demo: $(READY)
	$(BIN)/python -m rosenblatt demo

# one witness of every slow kind (a browser, a cluster, a kill, a page of the site), and all that is quick
test: lint
	$(PYTEST) -n 2 -m "not slow"

# all tests, slow ones too
test-all: lint typescript
	$(PYTEST) -n 2
	ROSENBLATT_COMPILE=never $(PYTEST) -n 2 tests/kernels

# what `make test` leaves out
test-slow: $(READY) typescript
	$(PYTEST) -n 2 -m slow
	ROSENBLATT_COMPILE=never $(PYTEST) -n 2 tests/kernels

# the page's types are checked where npm is; without it that test is skipped and says so
typescript:
	@if command -v npm >/dev/null && [ ! -x node_modules/.bin/tsc ]; then \
		npm install --prefix . --no-save --no-package-lock --no-audit --no-fund --silent typescript@5.9.3 || true; \
	fi

# PyTorch is too large for everyone's tests; on a machine with a GPU these run there too
test-gpu: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,gpu]'
	SCIPY_ARRAY_API=1 $(PYTEST) -n 2 tests/training/dual/test_array_programs.py tests/estimators/test_tensors.py

test-matrix:
	.ci/matrix $(MATRIX)

# workers and drivers are killed at random moments while clusters train; `SEED=7` repeats them
test-cluster: $(READY)
	PYTHONPATH=tests $(BIN)/python -m cluster --moments $(MOMENTS) $(SEED:%=--seed %)

# `make attack ONLY=kills TRIAL=7` repeats a finding; see tests/attack/README.md
attack: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[attack]'
	PYTHONPATH=tests $(BIN)/python -m attack --minutes $(MINUTES) $(SEED:%=--seed %) $(ONLY:%=--only %) $(TRIAL:%=--trial %)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

hooks: $(READY)
	git config core.hooksPath .githooks

# the site, in out/docs: offline, warnings are errors, and every link inside it is followed
docs: $(READY)
	rm -rf docs/api
	$(BIN)/python -m sphinx -q -E -W --keep-going -d out/doctrees docs out/docs
	$(BIN)/python docs/check_links.py out/docs

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

clean:
	rm -rf .venv .venv-* node_modules build dist out docs/api docs/gallery .hypothesis .mypy_cache .ruff_cache

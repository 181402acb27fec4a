# One BLAS/OpenMP thread everywhere: our own threads are outside, and bits and timings depend on it.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export NUMEXPR_NUM_THREADS := 1
# Workers and processes of the suite share bytecode.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin

.PHONY: demo test suite slow lint install

# The main job on a bundled table with missing values; writes demo/heart_disease.{empirisk,html}.
demo: install
	mkdir -p demo
	$(BIN)/empirisk fit "$$($(BIN)/python -c 'import empirisk; print(empirisk.datasets.path("heart_disease"))')" \
		--target disease --output demo

# Side by side: mypy is one process that takes half a minute.
test: install
	$(MAKE) --no-print-directory -j 2 lint suite

suite: install
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

slow: install
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m slow

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

install: .venv/installed

.venv/installed: pyproject.toml
	test -x $(BIN)/python || python3 -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

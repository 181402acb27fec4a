# One BLAS/OpenMP thread everywhere: our own threads are outside, and bits and timings depend on it.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export NUMEXPR_NUM_THREADS := 1
# Workers and processes of the suite share bytecode.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
# Made when the code of the pages has run; the pictures are beside it.
PICTURES := build/pictures/made

.PHONY: demo test suite slow lint docs install

# The main job on a bundled table with missing values; writes demo/heart_disease.{empirisk,html}.
demo: install
	mkdir -p demo
	$(BIN)/empirisk fit "$$($(BIN)/python -c 'import empirisk; print(empirisk.datasets.path("heart_disease"))')" \
		--target disease --output demo

# Side by side: mypy is one process that takes half a minute. The site takes its pictures from the suite.
test: install
	$(MAKE) --no-print-directory -j 2 lint suite
	$(MAKE) --no-print-directory docs

suite: install
	$(BIN)/python -m pytest -q -n 2 --dist worksteal
	touch $(PICTURES)

slow: install
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m slow

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, into site/index.html. A broken link or reference is an error.
docs: $(PICTURES)
	$(BIN)/python -m sphinx -q -W --keep-going -j 2 -d build/doctrees docs site

$(PICTURES): .venv/installed $(shell find docs src -name '*.md' -o -name '*.py')
	$(BIN)/python -m pytest -q -n 2 --dist worksteal tests/test_docs.py -k runs
	touch $@

install: .venv/installed

.venv/installed: pyproject.toml
	test -x $(BIN)/python || python3 -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	touch $@

# make run | test | check | figures | site | certify | lint | bench | cluster | soak | pins | clean
.DELETE_ON_ERROR:
.DEFAULT_GOAL := run
.PHONY: run test check figures site certify lint bench cluster soak pins clean

PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= all
RUN ?= reference
BIN := .venv/bin
READY := .venv/ready

# The official data of a checkout that has them beside it.
MIRROR := $(wildcard ../shared/data)
ifndef DATA_MIRROR
ifneq ($(MIRROR),)
export DATA_MIRROR := $(MIRROR)
endif
endif

# Hundreds of short processes import the suite, so compiled modules are kept.
unexport PYTHONDONTWRITEBYTECODE

$(READY): envs/requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv .venv || { echo "on Debian: apt-get install python3.11-venv, then make again" >&2; rm -rf .venv; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r envs/requirements.txt
	touch $@

run: $(READY)
	$(BIN)/python -m runs start --cores $(CORES)

test: lint
	# Three at a time on two cores: some tests wait for a process to be stopped.
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

# For daily work: the tests of what changed against main.
check: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -q $$($(BIN)/python tests/changed_tests.py)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint --configfile config/tiny.yaml

figures: $(READY)
	$(BIN)/python -m paper_figures draw $(RUN)
	$(BIN)/python -m paper_figures where $(RUN)

site: $(READY)
	$(BIN)/python -m site_builder build $(RUN)

certify: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m claims.certificates

bench: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/benchmarks -s -o python_files='bench_*.py'

cluster: $(READY)
	$(BIN)/python -m pytest tests/cluster -o python_files='cluster_*.py'

soak: $(READY)
	$(BIN)/python -m pytest tests/soak -s -o python_files='soak_*.py'

pins: $(READY)
	$(BIN)/python envs/pin.py

clean:
	rm -rf .snakemake results/quick results/tiny

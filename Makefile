# `make help` lists the targets: the words after ## below.
.DELETE_ON_ERROR:
.DEFAULT_GOAL := run
.PHONY: help run test test-all check figures site certify wheel release lint bench cluster
.PHONY: soak pins clean

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

# So that `mechanisms` and the command matrix-noise are there in every folder. A checkout's own code
# comes first where Python runs in it: what is installed is looked for last.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
	--no-build-isolation --editable .

$(READY): envs/requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv .venv || { echo "on Debian: apt-get install python3.11-venv, then make again" >&2; rm -rf .venv; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r envs/requirements.txt
	$(INSTALL)
	touch $@

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name words; do \
		printf 'make %-14s %s\n' "$$name" "$$words"; done

run: $(READY) ## every study of config/quick.yaml: two to five minutes
	$(BIN)/python -m runs start --cores $(CORES)

# Three tests at a time on two cores: some wait for a process to be stopped.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

test: lint ## lint, and the tests that take seconds: three to five minutes
	$(PYTEST) -m "not slow"

test-all: lint ## every test, with a small run of everything: twelve to thirty minutes
	$(PYTEST)

# For daily work: the tests of what changed against main.
check: lint ## lint, and the tests of what changed
	$(BIN)/python -m pytest -n 2 --dist loadfile -q -m "not slow" $$($(BIN)/python tests/changed_tests.py)

lint: $(READY) ## style of Python and Snakemake, CITATION.cff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint --configfile config/tiny.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

figures: $(READY) ## redraw a run: RUN=reference
	$(BIN)/python -m paper_figures draw $(RUN)

site: $(READY) ## the site of a run: RUN=reference
	$(BIN)/python -m site_builder build $(RUN)

certify: $(READY) ## write and check the certificates
	OMP_NUM_THREADS=1 $(BIN)/python -m claims.certificates

# Of the commit, with its time and fixed rights: the same setuptools and zlib give the same bytes.
wheel: $(READY) ## the package mechanisms, in dist/
	rm -rf build/wheel && mkdir -p build/wheel dist
	git -c tar.umask=0022 archive HEAD | tar -x -C build/wheel
	umask 022 && cd build/wheel && SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
		$(abspath $(BIN))/python -c \
		'from setuptools.build_meta import build_wheel; build_wheel("../../dist")'

# What is published by hand: nothing leaves this machine. Built again, it has the same bytes.
release: $(READY) ## wheel and site, in dist/
	rm -rf dist && mkdir dist
	$(MAKE) wheel
	$(BIN)/python -m site_builder build $(RUN) --out dist/packed/site
	$(MAKE) dist/site.tar.gz
	rm -r dist/packed

# Sorted, without times and owners, and with fixed rights: the same files give the same bytes.
dist/site.tar.gz: dist/packed
	tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
		-C dist/packed -c site | gzip -n > $@

bench: $(READY) ## measure speeds
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/benchmarks -s -o python_files='bench_*.py'

cluster: $(READY) ## a run on a Slurm cluster that it starts
	$(BIN)/python -m pytest tests/cluster -o python_files='cluster_*.py'

soak: $(READY) ## kills, full disks, terminals, clocks, commands of claims: an hour
	$(BIN)/python -m pytest tests/soak -s -o python_files='soak_*.py'

pins: $(READY) ## pin the newest versions of the packages
	$(BIN)/python envs/pin.py

clean: ## remove the results of quick and tiny
	rm -rf .snakemake results/quick results/tiny

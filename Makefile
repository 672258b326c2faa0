# make demo   the main job on a real Kafka broker, shown to a person     (DEMO_ARGS=--keep stays up)
# make demo-directory   a directory in PostgreSQL, shown to a person       (DEMO_ARGS="--database URL")
# make test   the tests, in several processes                            (TEST_ARGS="-k quiet -x" TEST_PROCESSES=0)
# make quick  the tests that need no broker, database or Spark, with fewer examples
# make long   long random histories, many kills and much chaos, for the tests that `make test` runs in a short form
# make proof  the same tests in their full length, for hours: 100,000 sessions of several requests, 10,000 attacks (before a release)
# make chaos  everything breaks at random, every version is checked     (CHAOS_MINUTES=10 CHAOS_SEED=1 CHAOS_ARGS=...)
#             CHAOS_ARGS=--producer: the reference producer instead
# make fuzz   hostile files for readers of structures and data         (FUZZ_MINUTES=5 FUZZ_SEED=1 FUZZ_ARGS=...)
# make bench  speed, as a ratio to a reference in the same run            (BENCH_ARGS="--rounds 3")
# make check  formatter, linter, types, import contracts, docs links, spelling, wheels  (CHECK_WHEELS=no without a network)
# make docs   the documentation site, in build/site: open index.html, no server is needed
# make env    all of the environment in .venv; demo and test make only the part they need
# make pictures  the pictures of pages in docs/images, with Chromium; of the dashboard, if KAFKA_REPLICA_GRAFANA is set
# make package  wheel and source built, installed elsewhere and used there      (asks the package index)
# make image  the container image built, and run with a broker, by docker or podman (CONTAINER_TOOL)
# make lock   the dependencies of pyproject.toml locked           (LOCK_ARGS=--upgrade: in their newest versions)
# make format the formatter applied

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CHAOS_MINUTES ?= 10
CHAOS_SEED ?= 1
FUZZ_MINUTES ?= 5
FUZZ_SEED ?= 1
# Tests wait a lot: for brokers, databases and processes. 0: no other processes.
TEST_PROCESSES ?= 4
# Tests start hundreds of Python processes, which would each compile every module.
unexport PYTHONDONTWRITEBYTECODE
# Packages of another Python or checkout would precede those of the environment.
unexport PYTHONPATH
PYTEST = $(BIN)/python -m pytest -n $(TEST_PROCESSES)

.PHONY: ready env demo demo-directory test quick long proof chaos fuzz bench pictures check docs package image format lock clean
.NOTPARALLEL:

env: $(VENV)/.check ready

# An environment has links to its Python and to this folder, so that it is of no use after either was moved.
ready:
	@$(BIN)/python -I -c 'import os, sys; from importlib.util import find_spec; found = find_spec("kafka_replica_spark"); \
	    here = os.path.realpath(".") + os.sep; sys.exit(not (found and os.path.realpath(found.origin).startswith(here)))' \
	    2>/dev/null || { echo "The environment in $(VENV) is of another folder or Python: run \`make clean\`, then the" \
	    "same command again." >&2; exit 1; }

# One environment, which grows: .demo, .test and .check in it say how far.
$(VENV)/.%: requirements/%.lock pyproject.toml .ci/make_env.py hatch_build.py $(wildcard kafka_replica/common/*.[ch])
	@$(PYTHON) .ci/make_env.py $(VENV) $* $^

demo: $(VENV)/.demo ready
	@$(BIN)/python -m kafka_replica_spark.demo $(DEMO_ARGS)

demo-directory: $(VENV)/.demo ready
	@$(BIN)/python -m kafka_replica.demo $(DEMO_ARGS)

test: $(VENV)/.test ready
	@$(PYTEST) $(TEST_ARGS)

quick: TEST_PROCESSES = 2
quick: $(VENV)/.test ready
	@KAFKA_REPLICA_TEST_EFFORT=quick $(PYTEST) tests/unit $(TEST_ARGS)

# Kills and outages take more waiting than other tests.
long proof: TEST_PROCESSES = 5
long: $(VENV)/.test ready
	@KAFKA_REPLICA_TEST_EFFORT=long $(PYTEST) --timeout 1800 $(TEST_ARGS)

proof: $(VENV)/.test ready
	@KAFKA_REPLICA_TEST_EFFORT=proof $(PYTEST) --timeout 3600 $(TEST_ARGS)

chaos: $(VENV)/.test ready
	@PYTHONPATH=tests $(BIN)/python -m chaos --minutes $(CHAOS_MINUTES) --seed $(CHAOS_SEED) $(CHAOS_ARGS)

fuzz: $(VENV)/.test ready
	@PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(FUZZ_MINUTES) --seed $(FUZZ_SEED) $(FUZZ_ARGS)

bench: $(VENV)/.test ready
	@PYTHONPATH=tests $(BIN)/python -m benchmarks $(BENCH_ARGS)

pictures: $(VENV)/.test ready
	@PYTHONPATH=tests $(BIN)/python -m support.server.pictures
	@PYTHONPATH=tests $(BIN)/python -m support.dashboard_picture

check: $(VENV)/.check ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/check_types.py
	$(BIN)/python .ci/check_docs.py
	$(BIN)/python .ci/check_english.py
	$(BIN)/codespell
	$(BIN)/python .ci/check_env.py
	$(BIN)/python .ci/check_licences.py
	$(BIN)/python .ci/check_api.py
ifneq ($(CHECK_WHEELS),no)
	$(BIN)/python .ci/check_wheels.py
endif

# --keep-going: all warnings are shown, and each of them is an error.
docs: $(VENV)/.docs ready
	@$(BIN)/sphinx-build --builder html --fail-on-warning --keep-going --quiet --jobs 2 \
		--doctree-dir build/doctrees docs build/site
	@echo "The documentation is in build/site/index.html"

package: $(VENV)/.check ready
	@$(BIN)/python .ci/check_package.py

image: $(VENV)/.test ready
	@$(BIN)/python .ci/check_image.py

format: $(VENV)/.check ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(VENV)/.check ready
	@$(BIN)/python .ci/lock.py $(LOCK_ARGS)

clean:
	rm -rf $(VENV) $(VENV).log $(VENV).lock build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

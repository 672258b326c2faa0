# make demo   the main job on a real Kafka broker, shown to a person     (DEMO_ARGS=--keep stays up)
# make test   the tests                                                  (TEST_ARGS="-k quiet -x")
# make chaos  everything breaks at random, every version is checked     (CHAOS_MINUTES=10 CHAOS_SEED=1 CHAOS_ARGS=...)
#             CHAOS_ARGS=--producer: the reference producer instead
# make fuzz   hostile messages for every reader of structures           (FUZZ_MINUTES=5 FUZZ_SEED=1 FUZZ_ARGS=...)
# make bench  speed, as a ratio to a reference in the same run            (BENCH_ARGS="--rounds 3")
# make check  formatter, linter, types, import contracts, docs links
# make env    the environment in .venv alone
# make lock   dependencies looked up anew; make format: the formatter applied

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.made
CHAOS_MINUTES ?= 10
CHAOS_SEED ?= 1
FUZZ_MINUTES ?= 5
FUZZ_SEED ?= 1

.PHONY: env demo test chaos fuzz bench check format lock clean

env: $(STAMP)

$(STAMP): requirements.lock pyproject.toml .ci/make_env.py
	@$(PYTHON) .ci/make_env.py $(VENV)

demo: $(STAMP)
	@$(BIN)/python -m kafka_replica_spark.demo $(DEMO_ARGS)

test: $(STAMP)
	@$(BIN)/python -m pytest $(TEST_ARGS)

chaos: $(STAMP)
	@$(BIN)/python -m chaos --minutes $(CHAOS_MINUTES) --seed $(CHAOS_SEED) $(CHAOS_ARGS)

fuzz: $(STAMP)
	@$(BIN)/python -m fuzz --minutes $(FUZZ_MINUTES) --seed $(FUZZ_SEED) $(FUZZ_ARGS)

bench: $(STAMP)
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/check_docs.py

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(STAMP)
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-header --all-extras --group dev \
		pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

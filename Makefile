# What people run. CI runs .ci/run, which calls the same commands with a budget of time for each.

GO ?= go
# Pinned, so that a new release doesn't turn old code red.
GOLANGCI = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# The packages in which goroutines meet, and those that only tell stories to one.
CONCURRENT = . ./cmd/... ./internal/commit ./internal/deletes ./internal/duck ./internal/exec ./internal/lake ./internal/progress ./internal/settings ./internal/stub ./internal/scratch

.PHONY: check lint slt race slow fuzz fuzz-changes fuzz-parser meta bench benchstat golden interop-spark

# check is for before each commit: formatting, vet, and all tests.
check:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) test ./...

# lint builds golangci-lint first, which takes some minutes the first time.
lint:
	$(GO) run $(GOLANGCI) run

# slt runs the checks that are SQL and rows: the golden tables, in every mode, and each way to change rows in each of them.
slt:
	TARN_WAYS=all $(GO) test -count=1 -timeout=20m ./internal/golden/...

# race runs the tests of the packages with goroutines under the race detector.
race:
	$(GO) test -race $(CONCURRENT)

# slow is race, and kills more writers and statements than the tests do. It needs PostgreSQL's programs.
KILLS ?= 200
slow: race
	TARN_TEST_KILLS=$(KILLS) testdata/services/with-postgres $(GO) test -count=1 -timeout=30m -run='^TestKilledWriters$$' ./internal/commit
	TARN_TEST_KILLS=$(KILLS) $(GO) test -count=1 -timeout=30m -run='^TestKilledStatements$$' ./internal/blackbox

# fuzz compares many random plans with the whole-query path and with brute force, 20,000 in about half an hour on two cores:
# make fuzz PLANS=100000, or SEED=n for the plans of that seed. A wrong answer prints its seed, and is made smaller. Without
# SEED each run has plans of its own. From 2,000 plans on it fails, too, when they don't show all that they should. A twentieth as many
# queries run over the golden tables, in all modes.
PLANS ?= 20000
fuzz:
	TARN_SEED=$(or $(SEED),new) TARN_PLANS=$(PLANS) TARN_GRAPHS=$$(($(PLANS) / 4)) TARN_QUERIES=$$(($(PLANS) / 20)) \
		$(GO) test -count=1 -timeout=$$((600 + $(PLANS)))s -v -run='^(TestRandomQueries|TestPlanningAgainGivesTheSame|TestMutatedGraphsAreRejected|TestRandom)$$' \
		./internal/property ./internal/golden

# fuzz-changes compares many random DELETE, UPDATE and MERGE statements with a model in memory: make fuzz-changes CHANGES=10000, or
# SEED=n for the statements of that seed. A wrong one prints its seed and all statements before it.
CHANGES ?= 1000
fuzz-changes:
	TARN_SEED=$(or $(SEED),new) TARN_CHANGES=$(CHANGES) $(GO) test -count=1 -timeout=$$((600 + 2 * $(CHANGES)))s -v -run='^TestRandomChanges$$' ./internal/property

# fuzz-parser searches for inputs that break a parser: make fuzz-parser P=./internal/sql T=FuzzParse D=1m.
D ?= 1m
fuzz-parser:
	$(GO) test -run='^$$' -fuzz='^$(T)$$' -fuzztime=$(D) $(P)

# meta runs the randomised tests again: with new seeds N times, or once with SEED. A failed one prints its seed.
N ?= 20
meta:
	TARN_SEED=$(or $(SEED),new) $(GO) test -count=$(if $(SEED),1,$(N)) ./transform ./internal/lake ./internal/duck ./internal/plan/spj ./internal/task ./internal/golden ./internal/property

# bench measures joins on Tarn and on DuckDB at full size, half an hour and 8 GB of disk: make bench ARGS='-dir DIR' keeps
# the tables for another run. It fails when a bar is missed.
bench:
	$(GO) run ./bench/join $(ARGS)

# benchstat measures P (default: all), for the tool of that name to compare with the same of another commit.
P ?= ./...
benchstat:
	$(GO) test -run='^$$' -bench=. -benchmem -count=6 $(P)

# interop-spark compares definitions of tables, what is written to them, changes of rows by both in turn, and tarn check's verdicts
# on Spark, with what a real Spark does. It needs Python, Java 17 and, for the first time, PyPI and Maven Central;
# interop/spark/interop.py says what can be set.
PYTHON ?= python3
INTEROP_DIR ?= $(CURDIR)/.interop/spark
interop-spark:
	$(GO) build -o $(INTEROP_DIR)/tarn ./cmd/tarn
	INTEROP_DIR=$(INTEROP_DIR) TARN=$(INTEROP_DIR)/tarn $(PYTHON) interop/spark/definitions.py
	INTEROP_DIR=$(INTEROP_DIR) TARN=$(INTEROP_DIR)/tarn $(PYTHON) interop/spark/writes.py
	INTEROP_DIR=$(INTEROP_DIR) TARN=$(INTEROP_DIR)/tarn $(PYTHON) interop/spark/changes.py
	INTEROP_DIR=$(INTEROP_DIR) TARN=$(INTEROP_DIR)/tarn $(PYTHON) interop/spark/interop.py $(CHECKS)

# golden writes the checked-in expectations anew; read the difference before committing it.
golden:
	$(GO) test . ./cmd/tarn ./internal/commit ./internal/dynamic ./internal/evolve ./internal/explain ./internal/lint ./internal/output ./internal/plan/... ./internal/sql ./internal/task ./internal/verdict -args -rewrite

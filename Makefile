# Everything a developer or CI runs. `make` alone lists the targets.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run build reference test check setups race nightly consistency verdicts comparisons explanations attacks soak flood lint fmt tidy policy-test cover fuzz fuzz-briefly bench bench-limits bench-baseline bench-load bench-console bench-mcp clean tool-opa tool-gofumpt tool-helm deploy-check release-snapshot tool-benchstat tool-oapi-codegen check-fmt

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT   := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS   = -s -w -X "main.build=$(VERSION) $(COMMIT)"

OPA_VERSION           = $(shell go list -m -f '{{.Version}}' github.com/open-policy-agent/opa)
GOFUMPT_VERSION       = v0.12.0
GOLANGCI_LINT_VERSION = v2.15.0
GOVULNCHECK_VERSION   = v1.8.0
REDOCLY_VERSION       = 2.77.0
OAPI_CODEGEN_VERSION  = v2.8.2
BENCHSTAT_VERSION     = v0.0.0-20260908200009-22c9c6c9d4da
HELM_VERSION          = v3.22.0
KUBECTL_VALIDATE_VERSION = v0.0.4
BIN                   = .tools/bin

# A hundred programs are linked, and no debugger reads them. The commit is in LDFLAGS, since the go command ends where git
# tells it nothing: in the checkout of another user. With -trimpath all checkouts share what is compiled.
export GOFLAGS := $(shell go env GOFLAGS) -ldflags=-s -buildvcs=false -trimpath
# The program is tested as it is shipped: without C, which the race detector alone needs.
export CGO_ENABLED = $(if $(RACE),1,0)

MODULE      = $(shell GOWORK=off go list -m)
# The modules of go.work beside the program's own, and the packages of all of them.
MODULES     = gateway/client test/load
EVERY       = ./... $(MODULES:%=./%/...)
BLACK_BOX   = ./test/api ./test/cli ./test/doors ./test/faults ./test/raw
# make nightly sets it to -race for their own code. The program under test is built so on request, since that takes ten
# minutes: PORTCULLIS_TEST_RACE=1 go test -race -timeout 30m ./test/api
RACE        =
# One package at a time: each starts servers of its own.
ON_MONGODB  = PORTCULLIS_TEST_STORE=mongodb -p 1 -vet=off -count=1 -timeout 15m $(BLACK_BOX)
ON_REPLICAS = PORTCULLIS_TEST_STORE=replicas -p 1 -vet=off -count=1 -timeout 15m $(BLACK_BOX)
NO_MONGOD   = $(if $(shell command -v "$${PORTCULLIS_TEST_MONGOD:-mongod}"),,without "no mongod in PATH or in PORTCULLIS_TEST_MONGOD (4.4 or later)")
NO_REDIS    = $(if $(shell command -v redis-server),,without "no redis-server in PATH")

# How many packages make test has under way: two a processor, since many of them wait for most of their time; and how many
# make race has. Those that take longest come first.
PACKAGES    = $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))
AT_ONCE     = $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN))
LONGEST     = ./store/redis ./policies/engine

# The packages left to make setups by make test, those with unit tests, and the rest, which start the program.
LEFT        = ./test/console ./test/doors ./test/mcp
UNITS       = $(filter-out $(MODULE)/test $(MODULE)/test/%,$(shell go list $(EVERY)))
STARTING    = $(filter-out $(UNITS) $(LEFT:.%=$(MODULE)%),$(shell go list $(EVERY)))

# The tests of which make test does less (test/tier): make setups does all of it, and make race does not, since the race
# detector makes them five times as long. Those of the other black-box tests are in packages that make setups runs whole.
LONG_TESTS  = TestRollingRestartFailsNoRequest|TestFaultsOfTheIdentityProvider|TestFollowerMissesNothing|TestFaults|TestBatchesOfOneTenantLoseNoVerdictOfAnother|TestAChangeMayBeLargerThanADocument|TestARareChangeOfALargeLogIsFound|TestTwoAdminsCannotRemoveEachOther|TestARevokedKeyIsRefusedAtOnce|TestNobodyIsLetInUnseen|TestNamedEditsAreToldOf|TestASampleOfTheRules|TestGrantsOfUnlistedActionsAreFound|TestTwoRunsReportTheSame|TestEqualKeysHaveEqualAnswers|TestTheKeyNeedsAllItsParts|TestTheTreeThatHasDecidedDecidesTheSame|TestChangesAreShownForTheirTime|TestALargeGroupLeavesOneRecordWithAllOfIt|TestTenWorkersOnMongoDB|TestASuspensionBesideASignInEndsTheSession|TestRoundTrips|TestFactsOfManyOnADatabase|TestThereAndBack|TestChangesAtUnlikeQuestionsAreTold
LONG_IN     = ./policies/compare ./policies/engine ./policies/replay ./resources/access ./resources/apikeys ./resources/clusters ./resources/sessions ./store/rolecache ./store/transfer ./test/faults
# The packages of which most tests are left to make setups.
LONG        = ./store/mongodb
# What starts no goroutine is not under the race detector: TestRaceLeavesOutWhatStartsNoGoroutine.
SEQUENTIAL  = cmd/portcullis/config cmd/portcullis/tracing policies/arguments policies/compare/diff policies/compare/guards policies/limits policies/policytest policies/proof policies/question resources/apidoc resources/definition resources/users resources/wire store/backup store/queries store/records store/transfer
# SQLite is C made into Go, without a goroutine. The race detector made the tests of what stores four times as long.
NOT_SQLITE  = $(foreach package,modernc.org/sqlite/lib modernc.org/libc/...,'-gcflags=$(package)=-race=false -d=checkptr=0')
# Neither are tests that only compile trees and run their tests, one after the other.
PROVING     = TestShippedTreesHold|TestTheExamplesDoWhatThePageSays

# What may be set: make fuzz FUZZTIME=5s, make bench BENCHTIME=100ms.
FUZZTIME  ?= 60s
BENCHTIME ?= 1s
COUNT     ?= 6
PAIRS     ?= 15
WINDOW    ?= 500ms
DECISIONS ?= 100000
VERDICTS  ?= 1000000
PROGRAMS  ?= 20000
SOAK      ?= 5m

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Without a shell or go run between, which report Ctrl-C as a failure.
run: build ## start the gateway on the embedded store, with demo data
	bin/portcullis serve --demo

# Without go.work, which an image and `go install` have not.
build: ## build the static binary bin/portcullis
	GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/portcullis ./cmd/portcullis

reference: ## write the flags, the table of imports and the tables of policy into docs/
	PORTCULLIS_TEST_WRITE=1 go test -p 1 -count=1 -run 'ReferenceHas|PageHasTheTable' ./cmd/portcullis ./test ./policies/limits ./policies/proof ./policies/question

# -count=1: the black-box tests build and start the program, and the test cache cannot see what it is made of. It can see
# what a unit test reads: those of packages without a change are not run again.
# -short leaves to make check what is long and not needed at each change: see test/tier.
# GOGC: a quarter of the time went into collecting garbage of tests that need little memory. make setups runs the
# black-box tests again without it.
test race fuzz-briefly: export GOGC = 400
test: check-fmt ## at each change: format, vet, policies, unit and black-box tests on the embedded store
	@echo "=== make $@"
	go vet $(EVERY) && go vet -tags nightly ./test/... && go vet .ci/count.go && go vet .ci/openapi.go && go vet .ci/sbom.go
	@$(MAKE) --no-print-directory policy-test
	@go run .ci/count.go -short -vet=off -timeout 10m -p $(PACKAGES) $(LONGEST) $(UNITS) \
		-- -short -vet=off -count=1 -timeout 10m -p $(PACKAGES) $(STARTING) \
		-- left $(LEFT)

check: test setups race fuzz-briefly lint deploy-check bench-limits ## before a merge: all that CI runs

# The gateway is asked at the users' listener with the firewall and the clusters in a process of their own, then on
# MongoDB, and then as three replicas with a Redis. Where there is no mongod the last two are skipped, and all of their
# tests counted.
setups: tool-oapi-codegen ## what make test leaves out, and the black-box tests in every other set-up
	@echo "=== make $@"
	@go run .ci/count.go $(RACE) -vet=off -count=1 -timeout 15m ./test/attacks ./test/clients ./test/consistency ./test/docs ./test/flood ./test/proxies \
		-- GOGC=400 $(RACE) -vet=off -count=1 -timeout 15m -p $(AT_ONCE) $(LEFT) \
		-- GOGC=400 -vet=off -count=1 -timeout 15m -run '^($(LONG_TESTS))$$' $(LONG_IN) \
		-- -vet=off -count=1 -timeout 15m $(LONG) \
		-- -vet=off -count=1 -timeout 10m -run 'TestOneMachineIsOutgrown|TestImageServesTheDemoAlone' ./test/cli \
		-- PORTCULLIS_TEST_EDGE=users PORTCULLIS_TEST_PROCESSES=two $(RACE) -vet=off -count=1 -timeout 10m ./test/api ./test/raw \
		-- $(NO_MONGOD) $(ON_MONGODB) -- $(or $(NO_MONGOD),$(NO_REDIS)) $(ON_REPLICAS)

race: ## the tests that don't start the program, under the race detector
	@echo "=== make $@"
	@CGO_ENABLED=1 go run .ci/count.go -race $(NOT_SQLITE) -short -skip '^($(PROVING))$$' -vet=off -count=1 -timeout 15m -p $(AT_ONCE) $(filter-out $(MODULE)/test/% $(MODULE)/policies/compare $(SEQUENTIAL:%=$(MODULE)/%),$(shell go list $(EVERY))) \
		-- -race $(NOT_SQLITE) -short -vet=off -count=1 -timeout 15m -run 'TestTwoRunsReportTheSame|TestAnEndedComparisonIsAnError' ./policies/compare

# Each runs, also after another one has failed.
nightly: ## each night: mutants, long runs, long fuzzing, figures
	$(MAKE) -k --no-print-directory setups RACE=-race
	$(MAKE) -k --no-print-directory attacks consistency verdicts comparisons explanations soak flood bench-load bench-console bench-mcp fuzz

# Needs a mongod (4.4 or later) and a redis-server.
consistency: ## judge DECISIONS decisions (100000) of replicas under faults, print the figures, and catch every mutant
	PORTCULLIS_TEST_DECISIONS=$(DECISIONS) go test -count=1 -timeout 60m -v -run 'InForce|Figures' ./test/consistency
	go test -count=1 -timeout 60m -v -tags nightly -run 'Mutants' ./test/consistency

verdicts: ## ask OPA the questions of VERDICTS pairs (1000000) for which the cache has one verdict
	PORTCULLIS_TEST_VERDICTS=$(VERDICTS) go test -count=1 -timeout 60m -v -run 'EqualKeys|KeyNeeds' ./policies/engine

# The changes are others each night. 20,000 take two to five hours on two cores.
comparisons: ## compare a tree with its mutants and refactorings, and trees with PROGRAMS random changes (20000)
	PORTCULLIS_TEST_PROGRAMS=$(PROGRAMS) PORTCULLIS_TEST_SEED=$$(date +%Y%m%d) go test -count=1 -timeout 12h -v -run NobodyIsLetInUnseen ./policies/compare
	go test -count=1 -timeout 4h -v -tags nightly -run 'Mutants|Refactorings|BesideEachOther' -bench Compare -benchtime 5x ./policies/compare

explanations: ## explain 10,000 questions of random worlds on two policy trees, and try every fix
	PORTCULLIS_TEST_QUESTIONS=10000 go test -count=1 -timeout 60m -v -run ExplanationsHold ./policies/explain

attacks: ## attack the program, print how many cases there are, and find out every mutant that lacks a defence
	@go run .ci/count.go -count=1 -timeout 20m ./test/attacks -- -tags=nightly -count=1 -timeout 60m -run Mutants ./test/attacks ./test/doors ./test/mcp

# Takes the real stores in where there is a mongod (4.4 or later) and a redis-server, half of the time each.
soak: ## good and bad clients, restarts and faults at once for SOAK (5m), and print what is held at rest
	PORTCULLIS_TEST_SOAK=$(SOAK) go test -count=1 -timeout 24h -v -run Soak ./test/consistency

# Needs two cores, and nothing else that runs on them. A smaller one is part of make check.
flood: ## what 1,000 slow connections, 5,000 cold questions at once, bursts of listings and a tenant's crowd cost the others
	go test -tags nightly -count=1 -v -run 'Full|Listing|Tenant' ./test/flood

lint: ## run golangci-lint, govulncheck and, on the OpenAPI document, Redocly
	@echo "=== make $@"
	@.ci/tool github.com/golangci/golangci-lint/v2/cmd/golangci-lint $(GOLANGCI_LINT_VERSION)
	@.ci/tool golang.org/x/vuln/cmd/govulncheck $(GOVULNCHECK_VERSION)
	@status=0; for module in . $(MODULES); do (cd $$module && "$(CURDIR)/$(BIN)/golangci-lint" run ./...) || status=1; done; .ci/vulncheck $(BIN)/govulncheck $(EVERY) || status=1; \
		.ci/openapi-lint $(REDOCLY_VERSION) || status=1; exit $$status

deploy-check: tool-helm ## hold the chart, the alerts and the unit of deploy/ to helm, Kubernetes' schemas, promtool and systemd
	@echo "=== make $@"
	@.ci/deploy-check $(BIN)

release-snapshot: ## build the archives of a release into dist/: binaries, sums, bills of materials
	@.ci/release "$(VERSION)" '$(LDFLAGS)'

fmt: tool-gofumpt tool-opa ## format Go and Rego
	$(BIN)/gofumpt -w . .ci
	$(BIN)/opa fmt -w policies

tidy: ## go mod tidy in each module
	@.ci/tidy $(MODULES)

policy-test: tool-opa ## format, strict check, tests and coverage of the policies, with the stock opa
	@.ci/policy-test $(BIN)/opa

cover: ## test coverage of the Go code, in coverage.out
	go test -count=1 -coverpkg=./... -coverprofile=coverage.out ./...
	@go tool cover -func=coverage.out | tail -n 1

fuzz: ## run every fuzz target for FUZZTIME each (60s)
	@.ci/fuzz $(FUZZTIME)

fuzz-briefly:
	@echo "=== make $@"
	@.ci/fuzz 3s

# Six runs are the fewest in which benchstat can tell a difference from chance.
bench: tool-benchstat ## run every benchmark COUNT times (6) for BENCHTIME each (1s), and compare with the baseline
	@.ci/bench $(BENCHTIME) $(COUNT)

# Of allocations, which are the same each time.
bench-limits: tool-benchstat
	@echo "=== make $@"
	@.ci/bench 100ms 3

bench-baseline: ## run them, and make that the baseline
	@BASELINE=write .ci/bench $(BENCHTIME) $(COUNT)

# Needs two cores, and nothing else that runs on them. A mongod and a redis-server, and the file of real roles
# that PORTCULLIS_TEST_LOAD_ROLES names, add their parts; what is left out is said.
bench-load: tool-opa ## what traffic costs the gateway and its peers, end to end: PAIRS (15) of windows of WINDOW (500ms)
	go test -run '^$$' -bench Load -benchtime 1x -timeout 60m ./test/load -pairs $(PAIRS) -window $(WINDOW)

bench-console: ## the console's pages with 100,000 people, and questions beside 20 pages that follow
	go test -tags nightly -run '^$$' -bench 'Pages|Questions|Followers|Assets' -benchtime 100x -timeout 60m ./test/console

# Needs two cores, and nothing else that runs on them.
bench-mcp: ## a warm tool call beside a proxy that judges nothing, the first byte of a stream, a list of 500 tools
	go test -tags nightly -run '^$$' -bench 'WarmCall|FirstByte|List' -benchtime 20x -timeout 20m ./test/mcp

clean: ## remove what was built, not the data
	rm -rf bin dist .tools coverage.* *.coverprofile

check-fmt: tool-gofumpt
	@unformatted=$$($(BIN)/gofumpt -l . .ci) && \
		if [ -n "$$unformatted" ]; then printf 'gofumpt: not formatted (make fmt):\n%s\n' "$$unformatted"; exit 1; fi

tool-helm:
	@.ci/tool helm.sh/helm/v3/cmd/helm $(HELM_VERSION)
	@.ci/tool sigs.k8s.io/kubectl-validate $(KUBECTL_VALIDATE_VERSION)

tool-opa:
	@.ci/tool github.com/open-policy-agent/opa $(OPA_VERSION)

tool-benchstat:
	@.ci/tool golang.org/x/perf/cmd/benchstat $(BENCHSTAT_VERSION)

tool-oapi-codegen:
	@.ci/tool github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen $(OAPI_CODEGEN_VERSION)

tool-gofumpt:
	@.ci/tool mvdan.cc/gofumpt $(GOFUMPT_VERSION)

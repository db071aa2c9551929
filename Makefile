# Everything a contributor does, one target each. `make help` lists them.

GO        ?= go
FUZZTIME  ?= 30s
BENCHTIME ?= 1s
CROSS     := linux/arm64 darwin/arm64 windows/amd64 linux/riscv64
# The race detector needs cgo and a C compiler.
RACE      := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)
# One package more at a time than there are processors: some tests wait for processes of theirs more than they work.
PACKAGES  := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1 )))

.PHONY: help run build test check fmt vet staticcheck tidy generated arrows cross check-sdk real bench fuzz soak engine

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## the main job: report on this tree through the file tools
	$(GO) run ./cmd/runcode run --allow-read testdata/examples/report.ts

build: ## build bin/runcode
	$(GO) build -o bin/runcode ./cmd/runcode

test: ## all tests, with the race detector where a C compiler is at hand
	@[ -n "$(RACE)" ] || echo "no C compiler (or CGO_ENABLED=0): the tests run without the race detector"
	$(GO) test $(RACE) -p $(PACKAGES) -timeout 20m ./...
	@[ -z "$(RACE)" ] || $(GO) test -timeout 20m -run '^TestHostileCorpus$$' ./runtime/wasmengine # whole, as the race detector takes too long for it

check: fmt vet staticcheck tidy generated arrows cross ## everything but the tests

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "gofmt would change:"; echo "$$out"; exit 1; }

vet:
	$(GO) vet ./...

staticcheck:
	$(GO) tool staticcheck ./...

tidy:
	$(GO) mod tidy -diff

generated: ## the engine binary is the pinned one
	$(GO) test -count=1 -run 'TestEngineProvenance' ./runtime/wasmengine/

arrows: ## imports run one way
	$(GO) test -count=1 -run 'TestArrows' .

cross: ## the other platforms compile, tests included
	@for t in $(CROSS); do echo "build $$t"; \
	  GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) build ./... && \
	  GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) vet ./... || exit 1; done

check-sdk: ## type-check generated declarations (npm ci --prefix testdata/servers brings the compiler)
	$(GO) test -count=1 -v -run 'TestRealServersCompile|TestCheckDeclarations|TestShared|TestGenerated' ./sdkgen

real: ## the tests with real MCP servers and clients, after installing these
	npm ci --prefix testdata/servers --no-audit --no-fund --loglevel=error
	npm ci --prefix testdata/clients --no-audit --no-fund --loglevel=error
	CI=true $(GO) test -count=1 -timeout 20m -v -run 'TestReal' ./cmd/runcode

bench: ## benchmarks; compare two runs with benchstat
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...

fuzz: ## each fuzz target for FUZZTIME (30s)
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "fuzz $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p || exit 1; \
	  done; done

soak: ## endurance, fault and parity tests at full length
	RUNCODE_SOAK=1 $(GO) test -count=1 -timeout 240m -v -run 'TestSoak|TestPairs|TestPrograms|GrowthFails|TestCancelAtEachLook|TestCallFails|TestManyCallsFail' ./runtime/wasmengine/
	RUNCODE_SOAK=1 $(GO) test $(RACE) -count=1 -timeout 120m -v -run 'TestWorkers' ./runtime/wasmengine/
	RUNCODE_SOAK=1 $(GO) test -count=1 -timeout 60m -v -run 'TestDifferential$$' ./runtime/runtimetest/
	RUNCODE_SOAK=1 $(GO) test -count=1 -timeout 60m -v -run 'TestPolicyParity' ./bridge/

engine: ## fetch the pinned engine binary again (npm) and verify it
	sh runtime/wasmengine/engine/fetch.sh

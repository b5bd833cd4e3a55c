# Fulmen's build. `make help` lists what there is; docs/contributing.md says more.
# Everything that is made lies in build/; `make deps` fetches there what the machine lacks.

ROOT  := $(CURDIR)
TOOLS := $(ROOT)/build/tools/bin
GO    := $(TOOLS)/go
MLX   ?=
ONCE  ?=
ONLY  ?=
# How long each fuzz target runs in `make fuzz`, and how often the soak repeats.
FUZZTIME ?= 20s

export PATH := $(TOOLS):$(PATH)
export MLX
# What is built is what go.mod says: no other Go is fetched, and no version control is asked.
export GOTOOLCHAIN := local
# Compilers end before it pays to collect their garbage, which is a quarter of what they do.
export GOFLAGS := -buildvcs=false '-toolexec=env GOGC=off GOMEMLIMIT=1GiB'
export CGO_ENABLED := 1
# Compilers named on make's command line are the ones that cgo calls.
ifneq ($(filter command line environment,$(origin CXX)),)
export CC CXX
endif

# In the app bundle the worker finds MLX in Contents/Resources/mlx. Go refuses an @ in #cgo lines, so it is said here.
# Programs are for macOS 26, as MLX is; Go's own linker would say 12, and Apple's whatever the machine has.
ifeq ($(shell uname -s),Darwin)
export MACOSX_DEPLOYMENT_TARGET := 26.0
MAC_LDFLAGS := -ldflags '-linkmode=external'
RANK_LDFLAGS := -ldflags '-linkmode=external -extldflags "-Wl,-rpath,@executable_path/../Resources/mlx"'
# Without it the app crashes; app/mac/goflags says why.
APP_FLAGS := $(shell cat app/mac/goflags/goflags.txt)
endif

# libcuda comes with NVIDIA's driver and not with the wheels: without one Fulmen still builds, and MLX says so at its start.
ifeq ($(MLX),cuda13)
export CGO_LDFLAGS := -O2 -g -Wl,--allow-shlib-undefined
endif

# The dependencies are asked for again when their list, their script or MLX= changed.
DEPS := build/.deps
ifneq ($(shell cat $(DEPS) 2>/dev/null),$(or $(MLX),default))
DEPS_STALE := stale
endif

.DEFAULT_GOAL := help
.PHONY: help deps build run demo test race darwin darwinsim fuzz lint generate check app sign notarize dmg pkg release app-check screenshots bench soak mutate clean stale

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

deps: ## fetch MLX and whatever the machine lacks (Go, Node, a compiler) into build/; MLX=cuda13 for NVIDIA GPUs
	@cmd/internal/deps/deps.sh

$(DEPS): cmd/internal/deps/pins.txt cmd/internal/deps/deps.py cmd/internal/deps/deps.sh assets/dashboard/package-lock.json $(DEPS_STALE)
	@cmd/internal/deps/deps.sh

# The page that the daemon serves; its program embeds what is made here.
PAGE := assets/dashboard/dist/index.html
$(PAGE): $(DEPS) $(shell find assets/dashboard/src assets/icons/app.svg -type f) $(addprefix assets/dashboard/,index.html vite.config.ts svelte.config.js tsconfig.json package.json)
	@test -e assets/dashboard/node_modules/vite || cmd/internal/deps/deps.sh
	@cd assets/dashboard && $(TOOLS)/npm run --silent build

# What comes out as it was stays the file that it was: the go command gives each program a new date, and the results
# of tests that look at it would no longer hold. For the same reason the folders that tests fill in build/ are made here.
build: $(DEPS) $(PAGE) ## build the programs into build/bin
	@mkdir -p build/bin build/linked build/darwin build/macapp
	$(GO) build $(RANK_LDFLAGS) -o build/linked/ ./cmd/fulmen-rank
	$(GO) build $(MAC_LDFLAGS) -o build/linked/ ./cmd/fulmend ./cmd/fulmen-shim ./cmd/fulmen
	$(GO) build $(MAC_LDFLAGS) $(APP_FLAGS) -o build/linked/ ./cmd/fulmen-app
	@for made in build/linked/*; do cmp -s $$made build/bin/$${made##*/} || cp -f $$made build/bin/; done

# Linux has no Thunderbolt Macs: after the machine itself, a simulated cluster of real daemons runs.
run: build ## run Fulmen here: measure this machine through MLX, then show it live, on Linux a simulated cluster; ONCE=1 ends by itself
ifeq ($(shell uname -s),Darwin)
	@$(GO) build -o build/tools/run ./cmd/internal/run && build/tools/run $(if $(ONCE),-once)
else
	@$(GO) build -o build/tools/run ./cmd/internal/run && build/tools/run -once && build/bin/fulmen demo $(if $(ONCE),--once)
endif

demo: build ## run a simulated cluster of real daemons on this machine; ONCE=1 ends by itself
	@build/bin/fulmen demo $(if $(ONCE),--once)

# Vet looks at everything once, and with all it has, as one of the house rules.
SUITE := $(GO) build -o build/tools/suite ./cmd/internal/suite && exec build/tools/suite

test: $(DEPS) ## run every test
	@$(SUITE)

race: $(DEPS) ## run the tests under the race detector
	@$(SUITE) race

darwin: $(DEPS) ## on Linux: compile, vet and link what is for macOS
	@cmd/internal/deps/deps.sh darwin
	$(GO) test -count=1 -run 'Typecheck|HouseRules/platforms' ./cmd/internal/rules
	$(GO) test -count=1 -timeout 20m ./cmd/internal/darwincheck/...

darwinsim: $(DEPS) ## on Linux: run the C for macOS over simulated frameworks, under the address and leak sanitizers
	@$(SUITE) darwinsim

fuzz: $(DEPS) ## run every fuzz target for FUZZTIME (20s)
	@$(SUITE) fuzz $(FUZZTIME)

lint: $(DEPS) ## check the house rules: vet, staticcheck, gofmt, imports, docs, pins
	$(GO) test -count=1 ./cmd/internal/rules

generate: $(DEPS) ## write the generated files again
	$(GO) generate ./...

check: build lint ## what to run before a commit: build, house rules, quick tests
	$(GO) test -short -vet=off -timeout 10m $$($(GO) list ./... | grep -v /cmd/internal/rules$$)

# The app, on a Mac: each says what it lacks and how to mend it; DRY=1 prints the commands and runs none.
BUNDLE := $(GO) run ./cmd/internal/bundle $(if $(DRY),-dry)

app: $(if $(DRY),,$(DEPS) $(PAGE)) ## on a Mac: build Fulmen.app into build/app, signed for this Mac alone; DRY=1 shows how
	@$(BUNDLE) app

sign: ## on a Mac: sign the app with the Developer ID in FULMEN_SIGN_IDENTITY
	@$(BUNDLE) sign

notarize: ## on a Mac: have Apple's notary look at the app, or at FILES, and put its ticket in
	@$(BUNDLE) notarize $(FILES)

dmg: ## on a Mac: make the disk image of the app, in build/release
	@$(BUNDLE) dmg

pkg: ## on a Mac: make the package for Macs without a screen, in build/release
	@$(BUNDLE) pkg

release: $(if $(DRY),,$(DEPS) $(PAGE)) ## on a Mac: all of these in order, with checksums, list of materials and the recipe for Homebrew
	@$(BUNDLE) release

app-check: $(DEPS) ## look at the app: on a Mac at the one in build/app, elsewhere at one of programs linked for macOS
ifeq ($(shell uname -s),Darwin)
	@$(BUNDLE) check build/app/Fulmen.app
else
	@cmd/internal/deps/deps.sh darwin
	$(GO) test -count=1 -timeout 20m ./cmd/internal/bundle/...
	$(GO) test -count=1 -timeout 20m -run 'TestPrograms' ./cmd/internal/darwincheck
endif

screenshots: $(DEPS) ## on Linux: make the pictures of the menu in docs/images again
	@cmd/internal/deps/deps.sh screenshots
	$(GO) run ./cmd/internal/screenshots -out docs/images

# What is missing here is fetched, and what cannot be fetched is a row that says so.
bench: build ## measure speed against MLX Python, for at most 25 minutes; table here, numbers in build/bench.json; ONLY=cluster for one group
	@for part in mlxlm browser paths; do cmd/internal/deps/deps.sh $$part || true; done
	@$(GO) build -o build/tools/bench ./cmd/internal/bench && exec build/tools/bench -out build/bench.json $(if $(ONLY),-only $(ONLY)) $(if $(NODES),-nodes $(NODES))

soak: build ## the long tests: fuzzing for minutes, leaks and storms over many rounds
	FULMEN_SOAK=1 $(GO) test -count=1 -timeout 6h ./...
ifneq ($(shell uname -s),Darwin)
	FULMEN_SOAK=1 $(GO) test -count=1 -asan -tags darwinsim -timeout 60m ./native/darwin/...
	$(GO) test -tags darwinsim -run '^$$' -fuzz '^FuzzRegistry$$' -fuzztime 3m ./native/darwin/simmac
endif
	@$(MAKE) fuzz FUZZTIME=3m

mutate: build ## put small faults into the rules, one at a time, and tell which no test finds; N=300 of them, drawn by SEED (0: a new one)
	@$(GO) run ./cmd/internal/mutate -n $(or $(N),300) -seed $(or $(SEED),0)

clean: ## remove what was built; the fetched wheels stay in build/cache
	rm -rf build/bin build/linked build/tools build/mlx build/darwin build/app build/release build/bench.json $(DEPS)

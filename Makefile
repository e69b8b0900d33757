# The targets are short names for the scripts in tools/; see CONTRIBUTING.md.
.DEFAULT_GOAL := help
.PHONY: help demo install test long ct fuzz faults mutants arm lab interop coming-from play play-test lint fmt check-layers check-tests asmcheck release check-release semver ci

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do \
		printf '  make %-13s %s\n' "$$name" "$$what"; done

demo: ## encrypt the clip in media/ with cbcs, look at it, decrypt it, compare; make a stream of it
	@tools/setup demo
	@tools/demo

install: ## the command, manual pages and completions into PREFIX (/usr/local; DESTDIR for packages)
	@tools/setup demo
	@tools/install

test: ## set up what the tests need and run them all (ARGS="-p lanelock" to choose)
	@tools/setup test $(ARGS)
	@tools/run-tests $(ARGS)

long: ## what takes longer, and a report: memory, constant time, fuzzing, faults, mutants, peers (ARGS="guard" to choose)
	@tools/setup long
	@tools/long $(ARGS)

ct: ## does time depend on secrets? docs/security.md (an hour or more; ARGS="--short")
	@tools/setup ct
	@tools/ct $(ARGS)

fuzz: ## coverage-guided fuzzing (half an hour a target; ARGS="--seconds 60 boxes")
	@tools/setup fuzz
	@tools/fuzz $(ARGS)

faults: ## system calls and allocations that fail, kills at any moment (half an hour; ARGS="--short")
	@tools/setup faults
	@python3 tools/faults $(ARGS)

mutants: ## would the tests notice a change of the code? (hours; ARGS="--short")
	@tools/setup mutants
	@tools/mutants $(ARGS)

arm: ## the tests on emulated processors: AArch64, and s390x, which is big-endian
	@tools/setup arm
	@tools/arm $(ARGS)
	@[ -n "$(ARGS)" ] || tools/arm --big-endian

lint: ## clippy with warnings denied (ARGS="-p lanelock" to choose)
	@tools/setup demo
	cargo clippy $(or $(ARGS),--workspace --features lanelock-cli/engine) --all-targets -- -D warnings

fmt: ## format the Rust code
	cargo fmt --all

check-layers: ## no crate uses what is beside or above it, no files one another in a circle
	@tools/check-layers

check-tests: ## no test skips in silence
	@tools/check-tests

asmcheck: ## the SIMD kernels are compiled as they are meant to be
	@tools/setup asmcheck
	@python3 tools/asmcheck

interop: ## the tables of docs/interop.md: who decrypts what (minutes; ARGS="--write")
	@tools/setup test
	@cargo build --release --quiet -p lanelock-cli
	@python3 tools/interop $(ARGS)

coming-from: ## the commands of docs/coming-from.md, beside those of other packagers (ARGS="--write")
	@tools/setup test
	@cargo build --release --quiet -p lanelock-cli
	@python3 tools/coming-from $(ARGS)

play: ## plays the stream of make demo in your browser: lanelock play
	@[ -f .cache/demo/keys ] || $(MAKE) demo
	@cargo run --release --quiet -p lanelock-cli -- play .cache/demo/stream --key-file .cache/demo/keys $(ARGS)

play-test: ## encrypted streams in a browser: docs/playback.md (minutes; ARGS="--short", "--write")
	@tools/setup play
	@cargo build --release --quiet -p lanelock-cli
	@tools/play-test $(ARGS)

release: ## what a release consists of, in target/dist: docs/releasing.md (ARGS="build package" for some steps)
	@tools/setup release
	@tools/release $(ARGS)

check-release: ## the crates can be published, and what they use be passed on
	@tools/check-release

semver: ## the crates' interfaces beside those of the last release
	@tools/semver $(ARGS)

ci: ## everything a change has to pass
	@.ci/run

lab: ## docs/performance.md: beside peers and limits (minutes; ARGS="--help")
	@tools/setup lab
	cargo run --quiet --manifest-path lab/Cargo.toml -- $(ARGS)
	@case "$(ARGS)" in "" | --quick) lab/whole-run $(ARGS) ;; esac

# The two that matter: `make demo` and `make test`. Both install what is missing first.
.PHONY: demo test test-long known setup-studies calibrate calibrate-live probes bench bench-long bench-audit fuzz deny docs schema settings

BAKEOFF = target/release/bakeoff

demo: ## The main job: a study on real JRuby, ending in a verdict and an HTML report.
	scripts/setup.sh demo
	cargo build --release --locked --bin bakeoff
	$(BAKEOFF) run studies/gocd-invokedynamic/study.toml --quick --html demo-report.html

test: ## What a change needs: formatting, lints and all tests but the long ones.
	scripts/setup.sh test
	cargo fmt --all --check
	scripts/tests.sh

test-long: ## The long tests: whole studies, every setting of every runtime; then FUZZ_SECONDS (20) of each fuzz target.
	scripts/setup.sh test
	FUZZ_SECONDS=$${FUZZ_SECONDS:-20} fuzz/run.sh
	scripts/tests.sh long

known: ## A known 5 % difference and an exact A/A, found as what they are.
	scripts/setup.sh known
	cargo build --release --locked --bin bakeoff --bin knownserver
	$(BAKEOFF) run studies/known/slower-by-5-percent.toml
	$(BAKEOFF) run studies/known/same-twice.toml

setup-studies: ## Installs what the studies run: Ruby with its web servers and libraries, PostgreSQL, a JDK, Maven, unzip.
	scripts/setup.sh studies

calibrate: ## How often verdicts are wrong, on simulated noise, into docs/calibration.md: about 20 minutes on 2 processors.
	cargo run --release --locked --bin calibrate figures
	cargo bench --locked -p calibration

calibrate-live: ## The same on real JRuby: 100 campaigns, about six hours. Interrupt it and go on whenever you like.
	scripts/setup.sh probes
	cargo build --release --locked --bin bakeoff
	python3 studies/calibration/campaigns.py $(BAKEOFF)

probes: ## What the always-on probes cost the server that they look at: about 25 minutes.
	scripts/setup.sh probes
	cargo build --release --locked --bin bakeoff
	BAKEOFF_PROBES=thinned $(BAKEOFF) run studies/probes-cost/study.toml --fail-on never
	$(BAKEOFF) show --json | python3 studies/probes-cost/cost.py
	python3 studies/probes-cost/log.py

bench: ## The client's cost and exactness beside other clients', into bench/RESULTS.md: about 12 minutes.
	scripts/setup.sh bench
	bench/run.sh

bench-long: ## Whether its memory stays flat: 10 minutes more.
	scripts/setup.sh bench
	bench/run.sh --long

bench-audit: ## How fast a large JTL is read, beside JMeter's own report: 15 minutes for JTL_GB (1) in JTL_ROUNDS (3).
	scripts/setup.sh bench-audit
	bench/run.sh audit

fuzz: ## What the parsers make of bytes nobody thought of, FUZZ_SECONDS (60) a target.
	scripts/setup.sh fuzz
	fuzz/run.sh

deny: ## Licences, duplicate and banned crates.
	command -v cargo-deny >/dev/null || cargo install --locked cargo-deny
	cargo deny check bans licenses sources

docs: ## The docs as a book, into book/.
	command -v mdbook >/dev/null || cargo install --locked mdbook
	mdbook build

schema: ## Writes the JSON Schemas anew.
	UPDATE_SCHEMA=1 cargo test --locked -p study -p report schema

settings: ## Writes docs/settings.md anew, from the table that its tests run.
	UPDATE_DOCS=1 cargo test --locked -p server --test servers settings::page

# CI calls the same recipes. Arguments reach the programs as given. The programs run in the caller's folder,
# so `just conformance --launch "node edge.mjs"` works in the folder of edge.mjs.
set positional-arguments

root := justfile_directory()
manifest := root / "Cargo.toml"
# EDGEPROOF and EDGEPROOF_LOAD name built programs, which run instead of building them. CI builds them once, with the tests.
run := "cargo run --quiet --manifest-path " + quote(manifest)
edgeproof := if env("EDGEPROOF", "") == "" { run + " --package edgeproof --" } else { quote(env("EDGEPROOF")) }
load := if env("EDGEPROOF_LOAD", "") == "" { run + " --release --package edgeproof-load --" } else { quote(env("EDGEPROOF_LOAD")) }

# List the recipes.
default:
    @just --list --unsorted

# Test an edge: the reference edge, a program (--launch 'node edge.mjs'), or a URL.
[no-cd]
conformance *ARGS:
    @{{ edgeproof }} conformance "$@"

# Test a collector in Chromium: the reference collector, or --module FILE|URL.
[no-cd]
conformance-collector *ARGS:
    @cargo run --quiet --manifest-path "{{ manifest }}" --package edgeproof --features collector -- conformance collector "$@"

# Show, compare and export the rows of the interface: list, show ID, diff A B, snapshot DIR, export FORMAT, coverage REPORT.
[no-cd]
spec *ARGS:
    @{{ edgeproof }} spec "$@"

# Lead through a change of the interface: edit NEXT, an overlay or a folder of tables, and run it again until the differences
# are as meant. OLD: a version or a path. SNAPSHOTS: the folder that you review with the change.
[no-cd]
spec-change NEXT OLD='current' SNAPSHOTS='snapshots':
    #!/usr/bin/env bash
    set -euo pipefail
    echo "1. what $1 changes, and what each owner has to do"
    {{ edgeproof }} spec diff "$2" "$1"
    echo "2. what it changes on the wire, compared with $3"
    [ -e "$3/rows.txt" ] || {{ edgeproof }} spec snapshot "$3" --spec "$2"
    {{ edgeproof }} spec snapshot "$3" --spec "$1" --check || [ $? = 1 ]
    echo "3. if that is what you mean, write the snapshots and commit them with $1:"
    echo "   edgeproof spec snapshot $3 --spec $1"
    echo "   who owns a part tests it with --spec $1"

# Show JSON reports of runs, compare two, or put several side by side: show FILE, diff OLD NEW, matrix FILE….
[no-cd]
report *ARGS:
    @{{ edgeproof }} report "$@"

# Make credentials and collections: edge-settings --out DIR, license, read-token, certificates, collection.
[no-cd]
mint *ARGS:
    @{{ edgeproof }} mint "$@"

# Run the mock service: --edge ADDR, --admin ADDR, --magic.
[no-cd]
mock *ARGS:
    @{{ edgeproof }} mock "$@"

# Run the reference edge, with its settings from the environment.
[no-cd]
edge *ARGS:
    @{{ edgeproof }} edge "$@"

# Load an edge and verdicts: journey, edge-relay, verdict-polling, mixed, merge, gather. Writes target/load.html.
[no-cd]
load *ARGS:
    #!/usr/bin/env bash
    set -euo pipefail
    case "${1-}" in
      edge-relay | verdict-polling | journey | mixed | merge | gather) set -- "$@" --report html='{{ root }}/target/load.html' ;;
    esac
    exec {{ load }} "$@"

# Run all tests that need Rust only.
test *ARGS:
    cargo test --workspace "$@"

# Format, lints, documentation, unused dependencies.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --all-features -- --deny warnings
    RUSTDOCFLAGS='--deny warnings' cargo doc --workspace --no-deps --all-features
    cargo machete

# Licenses, advisories and sources of the dependencies.
deny:
    cargo deny --all-features check

# Package all crates as they would be published. Without --no-verify, build each package from its archive.
package *ARGS:
    cargo package --workspace "$@"

# Build and pack both programs for this platform, and test the packages: tar.gz, npm, Python. Needs Python 3.11, Node and npm.
dist *ARGS:
    ./.ci/dist "$@"

# Validate the workflow files, and run their shell steps with packages (default: target/packages). Needs Python 3.11, Node, npm
# and curl.
workflows *ARGS:
    ./.ci/workflows "$@"

# Run README's two commands as on a machine with nothing but Rust and a C compiler.
bare:
    ./.ci/bare

# Run the tests that open Chromium, and those that need Node, curl or faketime. Says how to install what is missing.
test-browser *ARGS:
    ./.ci/test-browser "$@"

# Write the wire answers of every row again, for both versions of the interface: after a change of a table. Read the diff.
wire:
    @{{ edgeproof }} spec snapshot "{{ root }}/fixtures/snapshots/current"
    @{{ edgeproof }} spec snapshot "{{ root }}/fixtures/snapshots/pre-seal" --spec pre-seal

# List the cases of the version in Cargo.toml: at a release, after it changed. Until then, new cases have the next version.
release-cases:
    UPDATE_RELEASES=1 cargo test --quiet --package edgeproof --test integration -- coverage::releases::each_release

# Write the list of new checks in CHANGELOG.md again: after a change of cases or fingerprints.
changelog:
    UPDATE_CHANGELOG=1 cargo test --quiet --package edgeproof --test integration -- coverage::releases::change_log

# Find snapshots that no test uses, and snapshots that wait for review. Runs all tests.
snapshots:
    rm -f target/snapshots-seen
    INSTA_SNAPSHOT_REFERENCES_FILE="$PWD/target/snapshots-seen" cargo test --workspace --quiet >/dev/null
    INSTA_SNAPSHOT_REFERENCES_FILE="$PWD/target/snapshots-seen" ./.ci/test-browser --quiet >/dev/null
    ./.ci/orphans target/snapshots-seen

# Test the example edges in other languages (default: all).
edges *ARGS:
    ./.ci/edges "$@"

# Test the example edges (default: all) and write their results side by side to docs/results.md.
results *ARGS:
    ./.ci/results "$@"

# Test the reference collector: types, unit tests, and that the committed build is current. Checks and lints the scripts of
# its mutants and the other JavaScript of the project. Needs Node 20 and npm.
collector:
    npm --prefix fixtures/collector ci --no-audit --no-fund
    npm --prefix fixtures/collector test
    npm --prefix fixtures/collector run check
    npm --prefix fixtures/collector run lint

# Test the cases: every mutant against every case. Writes target/mutants.html and target/mutants.json.
mutants *ARGS:
    @mkdir -p target
    cargo run --quiet --package edgeproof-mutants -- --report html=target/mutants.html --report json=target/mutants.json "$@"

# Test the collector's cases: every mutant of the collector against the cases of its row, in Chromium.
mutants-collector *ARGS:
    @mkdir -p target
    cargo run --quiet --package edgeproof-mutants --features collector -- --collector --report html=target/mutants-collector.html --report json=target/mutants-collector.json "$@"

# Compare with the kill matrices of an earlier commit: no case, mutant or kill may be gone. There, write them to a folder:
# `just kills FOLDER`. Here: `just kills-compare FOLDER`.
kills FOLDER:
    cargo run --quiet --package edgeproof-mutants -- --gate --report json="$1/kills.json"
    cargo run --quiet --package edgeproof-mutants --features collector -- --collector --report json="$1/kills-collector.json"

# Fail if the kill matrices in a folder have more than this commit.
kills-compare FOLDER:
    cargo run --quiet --package edgeproof-mutants -- --gate --compare "$1/kills.json"
    cargo run --quiet --package edgeproof-mutants --features collector -- --collector --compare "$1/kills-collector.json"

# Count which generated conditions the exchanges of a run meet (edge or service), and play as many mutants drawn from them.
conditions PART="edge" DRAW="40" *ARGS:
    part=$1; draw=$2; shift 2; cargo run --quiet --package edgeproof-mutants -- --conditions "$part" --draw "$draw" "$@"

# Make the fingerprints again of the mutants that fail otherwise: after a change of cases, mutants or causes. Takes minutes.
fingerprints:
    cargo run --quiet --package edgeproof-mutants -- --gate --quick --jobs 8 --fingerprints harness/conformance/src/causes/fingerprints.json

# Make the fingerprints of all causes again. Takes hours.
fingerprints-all:
    cargo run --quiet --package edgeproof-mutants -- --fingerprints harness/conformance/src/causes/fingerprints.json

# Make the fingerprints of the collector's causes again, in Chromium. Takes half an hour.
fingerprints-collector:
    cargo run --quiet --package edgeproof-mutants --features collector -- --collector --fingerprints harness/conformance/src/causes/collector_fingerprints.json

# Run against hostile edges, services and clients; print time and peak memory of each run.
hostile:
    cargo test --quiet --package edgeproof --test integration hostile:: -- --nocapture

# Run libFuzzer on one of the targets in fuzz/: just fuzz answer -max_total_time=60.
fuzz *ARGS:
    ./.ci/fuzz "$@"

# Measure a run and the mock service (first argument: number of rounds).
bench *ARGS:
    cargo build --quiet --package edgeproof
    ./.ci/bench "$@"
    cargo bench --quiet --package edgeproof-mock --bench service_cost

# Measure the mock service beside other mocks; see docs/performance.md.
bench-mocks *ARGS:
    ./.ci/bench-mocks "$@"

# Measure the load generator beside oha, wrk and a bare hyper loop.
bench-load *ARGS:
    cargo build --quiet --profile dist --package edgeproof-load --bins --example load_cost
    ./.ci/bench-load "$@"

# Run each load scenario briefly: all answers as expected, all requests accounted for.
load-smoke:
    ./.ci/load-smoke

# Check the manifests for load shards against the schemas of Kubernetes and CI.
load-manifests:
    ./.ci/manifests

# Validate the exported OpenAPI with two validators, and its examples against its schemas. Needs Python, Node and npm.
exports:
    ./.ci/exports

# Run schemathesis with the exported OpenAPI against the mock service and the reference edge, and with planted faults. Needs
# Python 3.11.
cross-check:
    ./.ci/cross-check

# Test the load generator: percentiles, rates, counts, and that a starved run is invalid.
load-self-test *ARGS:
    @{{ load }} self-test "$@"

# The front door. CI calls the same recipes. Arguments reach the programs as they were given.
set positional-arguments

# What there is.
default:
    @just --list --unsorted

# Prove an edge: the embedded one, a program (--launch 'node edge.mjs'), or one that runs somewhere (an address).
conformance *ARGS:
    @cargo run --quiet --package edgeproof -- conformance "$@"

# Show the interface as rows: list, show ID.
spec *ARGS:
    @cargo run --quiet --package edgeproof -- spec "$@"

# Make credentials and collections in every form: edge-settings --out DIR, license, read-token, certificates, collection.
mint *ARGS:
    @cargo run --quiet --package edgeproof -- mint "$@"

# Run the mock service for other tests: --edge ADDR, --admin ADDR, --magic.
mock *ARGS:
    @cargo run --quiet --package edgeproof -- mock "$@"

# Run the reference edge, with its settings from the environment.
edge *ARGS:
    @cargo run --quiet --package edgeproof -- edge "$@"

# All tests, as README has it.
test *ARGS:
    cargo test --workspace "$@"

# Format, lints, documentation: nothing may be left to say.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- --deny warnings
    RUSTDOCFLAGS='--deny warnings' cargo doc --workspace --no-deps

# Snapshots that no test looks at any more, and such that wait for review: runs all tests to find out.
snapshots:
    rm -f target/snapshots-seen
    INSTA_SNAPSHOT_REFERENCES_FILE="$PWD/target/snapshots-seen" cargo test --workspace --quiet >/dev/null
    ./.ci/orphans target/snapshots-seen

# The edges that come with edgeproof, in other languages: all, or those named.
edges *ARGS:
    ./.ci/edges "$@"

# Prove the cases: every deviation against every case, in target/mutants.html and .json.
mutants *ARGS:
    @mkdir -p target
    cargo run --quiet --package edgeproof-mutants -- --report html=target/mutants.html --report json=target/mutants.json "$@"

# Hostile edges, services and clients, full disks, killed processes: prints time and peak memory of each run.
hostile:
    cargo test --quiet --package edgeproof --test hostile -- --nocapture

# libFuzzer on one of the targets in fuzz/: just fuzz answer -max_total_time=60.
fuzz *ARGS:
    ./.ci/fuzz "$@"

# Speed and size of a run, and what the mock service costs; benchmarks, not tests. A first argument: how many rounds.
bench *ARGS:
    cargo build --quiet --package edgeproof
    ./.ci/bench "$@"
    cargo bench --quiet --package edgeproof-mock --bench service_cost

# Load an edge and verdicts: journey, edge-relay, verdict-polling, mixed, merge; leaves a page in target/load.html.
load *ARGS:
    #!/usr/bin/env bash
    set -euo pipefail
    case "${1-}" in
      edge-relay | verdict-polling | journey | mixed | merge) set -- "$@" --report html=target/load.html ;;
    esac
    exec cargo run --quiet --profile "${LOAD_PROFILE:-release}" --package edgeproof-load -- "$@"

# A short run of each load scenario: everything answered as expected, everything accounted for; no absolute times.
load-smoke:
    ./.ci/load-smoke

# Manifests for shards of a load run, against the schemas of Kubernetes and CI.
load-manifests:
    ./.ci/manifests

# The load generator proves itself: percentiles against arithmetic, rates, counts, and that a starved run is called invalid.
load-self-test *ARGS:
    @cargo run --quiet --profile "${LOAD_PROFILE:-release}" --package edgeproof-load -- self-test "$@"

# The load generator's own cost, beside oha, wrk (where they are installed) and a bare hyper loop; a benchmark, not a test.
bench-load *ARGS:
    cargo build --quiet --release --package edgeproof-load --bins --example load_cost
    ./.ci/bench-load "$@"

#!/bin/bash
# The tests on several ranks: installs OpenMPI where no MPI is found, builds one program, and runs it on 2 and 4 ranks.
#
#   tests/mpi/run.sh           a short version, for the gate
#   tests/mpi/run.sh --full    ranks are killed at random moments until 20 kills were before the end of the job
#
# SEED=… repeats the random moments of a run, which prints its seed.
set -euo pipefail
cd "$(dirname "$0")/../.."

full=0
[ "${1:-}" = "--full" ] && full=1
kills=$((full ? 20 : 3))

install_mpi() {
    local as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo"
    $as_root apt-get update -qq && $as_root apt-get install -y -qq libopenmpi-dev openmpi-bin libclang-dev >/dev/null
}

if ! command -v mpirun >/dev/null || ! command -v mpicc >/dev/null; then
    if ! install_mpi; then
        echo "the tests over MPI were NOT run: install OpenMPI or MPICH with its headers, and libclang" >&2
        echo "MPI: 0 tests run"
        exit "$full"
    fi
fi

# With all packages selected, cargo chooses the features of `cargo test --workspace`, so that only this crate and the
# bindings are built.
cargo build --quiet --workspace --features sgmcmc-distributed/mpi --example mpi_worker
worker="${CARGO_TARGET_DIR:-target}/debug/examples/mpi_worker"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# `--oversubscribe` is an option of OpenMPI; MPICH needs none.
options=()
if mpirun --version | grep -qi "open mpi"; then
    options=(--allow-run-as-root --oversubscribe)
    # Ranks on one machine: no network interface is needed, and waiting ranks yield the processor.
    export OMPI_MCA_btl=^tcp OMPI_MCA_mpi_yield_when_idle=1
fi
ranks() { local count=$1; shift; timeout 120 mpirun "${options[@]}" -n "$count" "$worker" "$@"; }

fail() { echo "FAIL: $1" >&2; exit 1; }

# Runs a command that must fail, with a message that contains every given text.
expect_failure() {
    local count=$1 command=$2; shift 2
    # shellcheck disable=SC2086
    if ranks "$count" $command >"$scratch/out" 2>&1; then fail "$command did not fail"; fi
    for text in "$@"; do
        grep -q "$text" "$scratch/out" || { cat "$scratch/out" >&2; fail "$command does not say '$text'"; }
    done
}

for count in 1 2 4; do
    ranks "$count" draws
done

expect_failure 2 "fail error" "rank 1 of 2 failed: this rank has an error"
expect_failure 4 "fail panic" "rank 1 of 4 failed: it panicked"
expect_failure 2 "fail diverge" "rank [01] of 2 failed:" "of chain [01]" "use a smaller step size"

mkdir "$scratch/shards"
"$worker" write-shards "$scratch/shards" 4
ranks 4 shards "$scratch/shards" >/dev/null
damaged="$scratch/shards/shard-2.mapped"
printf x | dd of="$damaged" bs=1 seek=$(($(wc -c <"$damaged") - 1)) conv=notrunc status=none
expect_failure 4 "shards $scratch/shards" "rank 2 of 4 failed" "shard-2.mapped"
rm "$scratch/shards/shard-1.mapped"
expect_failure 4 "shards $scratch/shards" "rank 1 of 4 failed" "shard-1.mapped"
echo "a missing and a damaged shard are named before sampling starts"

# A rank is killed at random moments. The message names it, and the job that is resumed gives the same draws.
ranks 4 job "$scratch/whole"
# The time from the start of the ranks to the draws, without that of `mpirun`.
time_of() { date -r "$scratch/whole/$1" +%s%N; }
milliseconds=$((($(time_of draws) - $(time_of process-0)) / 1000000 + 1))
RANDOM=${SEED:=$RANDOM}
echo "the seed of the random moments is $SEED"
named=0
kill=0
# The short version makes `kills` kills, of which some may come after the end of the job.
while ((full ? named < kills : kill < kills)); do
    kill=$((kill + 1))
    ((kill <= 5 * kills)) || fail "only $named of $((kill - 1)) kills were before the end of the job"
    rm -rf "$scratch/killed"
    victim=$((RANDOM % 4))
    # The status is kept by hand: `set -e` would end the subshell before it is written.
    (code=0; ranks 4 job "$scratch/killed" >"$scratch/out" 2>&1 || code=$?; echo $code >"$scratch/code") &
    job=$!
    until [ -s "$scratch/killed/process-$victim" ]; do
        kill -0 "$job" 2>/dev/null || { cat "$scratch/out" >&2; fail "the job did not start"; }
        sleep 0.01
    done
    # The first kill is early, so that at least one comes before the end of the job.
    delay=$((kill == 1 ? milliseconds / 5 : RANDOM % milliseconds))
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    kill -KILL "$(cat "$scratch/killed/process-$victim")" 2>/dev/null || true
    wait "$job"
    if [ "$(cat "$scratch/code")" != 0 ]; then
        grep -Eq "rank $victim |RANK $victim " "$scratch/out" || { cat "$scratch/out" >&2; fail "rank $victim is not named"; }
        named=$((named + 1))
        if [ "$kill" = 1 ]; then
            expect_failure 2 "job $scratch/killed" "was made by 4 ranks, but this run has 2"
        fi
    fi
    ranks 4 job "$scratch/killed"
    cmp "$scratch/whole/draws" "$scratch/killed/draws" || fail "the draws after kill $kill differ"
done
[ "$named" -gt 0 ] || fail "no rank was killed before the end of the job"
echo "$kill kills, $named of them before the end of the job: the rank is named, and the draws are the same"

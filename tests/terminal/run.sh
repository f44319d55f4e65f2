#!/bin/bash
# A long run in a real terminal: four chains on two threads, looked at from another terminal, ended with Ctrl-C, continued,
# extended, and compared with a run that was not interrupted.
#
#   tests/terminal/run.sh [DIR]     (DIR: where the screens go; default: target/terminal)
#
# Needs tmux, which is installed by apt-get where it is missing. The program is built without optimization; set
# PROFILE=release for another build.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v tmux >/dev/null || apt-get install --yes tmux >/dev/null
out=${1:-target/terminal}
mkdir -p "$out"
out=$(cd "$out" && pwd)

profile=${PROFILE:-dev}
# With all packages selected, cargo uses the libraries that `cargo test --workspace` has built.
cargo build --quiet --profile "$profile" --workspace --example long_run --bin sgmcmc
built="$PWD/${CARGO_TARGET_DIR:-target}/$([ "$profile" = dev ] && echo debug || echo "$profile")"

scratch=$(mktemp -d)
session="sgmcmc-$$"
trap 'tmux kill-session -t "$session" 2>/dev/null || true; rm -rf "$scratch"' EXIT
tmux new-session -d -s "$session" -x 132 -y 40

failed() {
    echo "FAIL: $1; the last screen:" >&2
    tmux capture-pane -p -t "$session" >&2
    exit 1
}

# Starts the long run with these options. Its exit code is written to a file.
start() {
    rm -f "$scratch/code"
    tmux send-keys -t "$session" "clear; RAYON_NUM_THREADS=2 '$built/examples/long_run' $*; echo \$? > '$scratch/code'" Enter
}

# Waits until the screen has a line that matches a pattern.
wait_for() {
    for _ in $(seq 600); do
        tmux capture-pane -p -t "$session" | grep -qE "$1" && return
        sleep 0.2
    done
    failed "no line like \`$1\`"
}

# Waits until the run ends, and compares its exit code with a pattern. A complete run exits with 0 or, if its check finds a problem,
# with 1; which of the two is no matter of this test.
ended_with() {
    for _ in $(seq 1500); do
        if [ -s "$scratch/code" ]; then
            [[ "$(cat "$scratch/code")" =~ ^$1$ ]] || failed "exit code $(cat "$scratch/code"), expected $1"
            return
        fi
        sleep 0.2
    done
    failed "the run does not end"
}

screen() { tmux capture-pane -p -t "$session" > "$out/$1.txt"; }

# Prints the number of draws of each chain, one per line.
draws() { "$built/sgmcmc" info "$1" | sed -n 's/^  [0-9]*  \([0-9]*\) draws.*/\1/p'; }

draws=${DRAWS:-20000}
run="$scratch/run"

echo "== all chains are shown while they run"
start --draws "$draws" --checkpoints "$run" --every 0.5
wait_for '^all .*left'
for chain in 0 1 2 3; do
    tmux capture-pane -p -t "$session" | grep -qE "^chain $chain " || failed "chain $chain is not shown"
done
if tmux capture-pane -p -t "$session" | grep -q NaN; then failed "NaN on the screen"; fi
wait_for 'R-hat'
screen running

echo "== watched from another terminal"
until [ "$(draws "$run" 2>/dev/null | wc -l)" = 4 ]; do sleep 0.2; done
"$built/sgmcmc" watch --once "$run" > "$out/watch.txt"
grep -q "chain 3:" "$out/watch.txt" || failed "\`watch\` does not show chain 3"
grep -q "trace of each chain" "$out/watch.txt" || failed "\`watch\` draws no trace"

echo "== ended with Ctrl-C"
tmux send-keys -t "$session" C-c
ended_with 3
wait_for 'interrupted: the same command continues the run'
screen interrupted
mapfile -t counts < <(draws "$run" | sort -n)
[ "${#counts[@]}" = 4 ] || failed "${#counts[@]} chains"
echo "   draws of the chains: ${counts[*]}"
[ "${counts[0]}" -gt 0 ] || failed "a chain has no draws"
[ $((2 * counts[0])) -ge "${counts[3]}" ] || failed "the chains are not of comparable length"
[ "${counts[3]}" -lt "$draws" ] || failed "the run was complete before Ctrl-C: set DRAWS to a larger number"

echo "== continued"
start --draws "$draws" --checkpoints "$run" --every 0.5
wait_for 'continues from iteration'
ended_with '[01]'
screen continued
[ "$(draws "$run" | sort -u)" = "$draws" ] || failed "not all chains have $draws draws"

echo "== extended"
longer=$((draws + draws / 2))
start --draws "$longer" --checkpoints "$run" --every 0.5
ended_with '[01]'
screen extended
[ "$(draws "$run" | sort -u)" = "$longer" ] || failed "not all chains have $longer draws"

echo "== the same draws as without interruption"
start --draws "$longer" --checkpoints "$scratch/whole" --every 1000
ended_with '[01]'
"$built/sgmcmc" diff --exact "$run" "$scratch/whole"
echo "pass; the screens are in $out"

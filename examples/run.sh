#!/bin/bash
# Runs all examples, prints the time and the verdict of each, and draws the figures of examples/README.md.
#
#   examples/run.sh [EXAMPLE…]     (PROFILE=dev: without optimization)
set -euo pipefail
cd "$(dirname "$0")/.."

profile=${PROFILE:-release}
all=(quickstart csv_to_answer eight_schools long_run larger_than_memory step_by_step control_variates logistic_regression
    gaussian_mixture zero_variance bayesian_neural_network matrix_factorization topics clusters alpha_stable)
# Those whose figure is one of docs/gallery.sh, or that have none.
without_figure=" quickstart control_variates zero_variance topics alpha_stable "

examples=("${@:-${all[@]}}")
cargo build --quiet --profile "$profile" --workspace "${examples[@]/#/--example=}"
built="${CARGO_TARGET_DIR:-target}/$([ "$profile" = dev ] && echo debug || echo "$profile")/examples"
figures=docs/gallery/examples
mkdir -p "$figures"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

failures=0
for example in "${examples[@]}"; do
    options=(--quiet)
    [[ "$without_figure" == *" $example "* ]] || options+=(--figure "$figures/$example.svg")
    # The run starts from its beginning.
    [ "$example" != long_run ] || options+=(--checkpoints "$scratch/long_run")
    begin=$(date +%s%N)
    code=0
    "$built/$example" "${options[@]}" >"$scratch/output" 2>&1 || code=$?
    tenths=$((($(date +%s%N) - begin) / 100000000))
    verdict=$(grep -E "^(pass|FAIL): " "$scratch/output" | tail -n 1 || true)
    printf "%-24s %4d.%d s  %s\n" "$example" $((tenths / 10)) $((tenths % 10)) "${verdict:-no verdict}"
    if [ "$profile" = release ]; then
        seconds=$(((tenths + 9) / 10))
        sed -i -E "/^\\| \\[$example\\]\\(/ s#\\| [^|]+ \\| ([^|]+) \\|\$#| $seconds s | \\1 |#" examples/README.md
    fi
    # The table links to the figures that there are.
    if [ -s "$figures/$example.svg" ]; then
        sed -i -E "/^\\| \\[$example\\]\\(/ s#\\| ([^][|]+) \\|\$#| [\\1](../$figures/$example.svg) |#" examples/README.md
    fi
    expected=$([[ "$verdict" == pass:* ]] && echo 0 || echo 1)
    if [ "$code" != "$expected" ] || [ "$code" != 0 ]; then
        failures=$((failures + 1))
        echo "  exit code $code:" && tail -n 20 "$scratch/output" | sed 's/^/  /'
    fi
done
[ "$failures" = 0 ] || { echo "$failures examples FAIL"; exit 1; }

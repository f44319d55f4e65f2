#!/bin/sh
# Everything that is compared with Python packages: makes a virtual environment, installs them, and runs each script.
#
#   tests/python/run.sh [VENV]
#
# VENV is kept and used again; without it a temporary one is made and removed. PYTHON names the interpreter (3.12 or newer),
# and PARTS the parts: diagnostics, files.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname -- "$(dirname -- "$here")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
venv=${1:-$scratch/venv}
python=${PYTHON:-python3}

"$python" -c 'import sys; sys.exit(0 if sys.version_info >= (3, 12) else "ArviZ 1.x needs Python 3.12 or newer: set PYTHON")'
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/pip" install --quiet --requirement "$here/requirements.txt"

diagnostics() {
    mkdir "$scratch/references"
    "$venv/bin/python" "$here/diagnostics.py" generate "$scratch/references"
    "$venv/bin/python" "$here/diagnostics.py" compare "$root/crates/diagnostics/tests/references" "$scratch/references"
    (cd "$root" && cargo test --quiet --package sgmcmc-diagnostics --test references)
    (cd "$root" && cargo build --quiet --release --package lab)
    "$venv/bin/python" "$here/diagnostics.py" speed "${CARGO_TARGET_DIR:-$root/target}/release/lab"
}

files() {
    # With all packages selected, the program of the workspace turns on the features arrow, parquet and zarr.
    (cd "$root" && cargo build --quiet --workspace --example write_fit)
    "$venv/bin/python" "$here/files.py" "${CARGO_TARGET_DIR:-$root/target}/debug/examples/write_fit"
}

for part in ${PARTS:-diagnostics files}; do
    echo "== $part"
    "$part"
done

#!/bin/bash
# Executes docs/notebook.ipynb with the Rust kernel evcxr, and checks what its cells show.
#
#   tests/notebook/run.sh [--write]     (--write: the notebook is replaced by the executed one)
#
# Installs the kernel from crates.io into target/tools, and Jupyter's client into a virtual environment there. PYTHON names the
# interpreter. The first run takes about twenty minutes, because the kernel contains rust-analyzer.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools="$PWD/target/tools"
mkdir -p "$tools"
if [ ! -x "$tools/bin/evcxr_jupyter" ]; then
    CARGO_TARGET_DIR="$tools/build" cargo install --locked --root "$tools" evcxr_jupyter
    rm -rf "$tools/build"
fi
if [ ! -x "$tools/jupyter/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$tools/jupyter"
    "$tools/jupyter/bin/pip" install --quiet nbclient jupyter_client nbformat
fi

# The kernel is registered inside of target/tools, and not for the user.
export JUPYTER_PATH="$tools/share/jupyter"
mkdir -p "$JUPYTER_PATH/kernels/rust"
cat > "$JUPYTER_PATH/kernels/rust/kernel.json" <<JSON
{"argv": ["$tools/bin/evcxr_jupyter", "--control_file", "{connection_file}"], "display_name": "Rust", "language": "rust", "interrupt_mode": "message"}
JSON
# The kernel makes a crate of its own, which must not be inside of this workspace. Compiled dependencies are kept for the next run.
export EVCXR_TMPDIR="${TMPDIR:-/tmp}/sgmcmc-notebook"
mkdir -p "$EVCXR_TMPDIR"
"$tools/jupyter/bin/python" tests/notebook/execute.py docs/notebook.ipynb "$@"

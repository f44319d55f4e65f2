"""Prints microseconds per SGLD step of sgmcmc and of other libraries as a Markdown table.

    python side_by_side.py --peers peers.py --peer jax path/to/python --peer sgmcmcjax path/to/other/python

`peers.py KIND WORKLOAD` must print a line `KIND WORKLOAD MICROSECONDS`, like `cargo run --release -p lab -- steps WORKLOAD`.
For each workload, all libraries run in alternation for `--rounds` rounds and the fastest round counts, so that variations of the
speed of the machine affect all libraries. A ratio above 1 is the factor by which the other library is slower.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

WORKLOADS = ["gauss2", "logistic_small", "logistic", "mixture", "bnn", "pmf"]
PACKAGES = {"jax": ["jax"], "sgmcmcjax": ["sgmcmcjax", "jax"], "blackjax": ["blackjax", "jax"], "posteriors": ["posteriors", "torch"]}


def last_number(command, cwd=None):
    """Returns the number at the end of the output of `command`, or None if there is none."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    words = done.stdout.split()
    try:
        return float(words[-1])
    except (IndexError, ValueError):
        return None


def label(kind, python):
    """Returns the name and version of the library and of its backend."""
    code = "import sys, importlib.metadata as m; print(' on '.join(p + ' ' + m.version(p) for p in sys.argv[1:]))"
    done = subprocess.run([python, "-c", code, *PACKAGES.get(kind, [kind])], capture_output=True, text=True)
    return done.stdout.strip() or kind


def processor():
    """Returns the name of the processor, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def digits(microseconds):
    return "–" if microseconds is None else f"{microseconds:.2f}" if microseconds < 100 else f"{microseconds:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="the script that runs the other libraries")
    parser.add_argument("--peer", nargs=2, action="append", default=[], metavar=("KIND", "PYTHON"), help="a library and its interpreter")
    parser.add_argument("--engine", default="compiled", help="engine of sgmcmc")
    parser.add_argument("--rounds", type=int, default=1, help="number of rounds")
    parser.add_argument("workloads", nargs="*", default=WORKLOADS)
    arguments = parser.parse_args()

    root = Path(__file__).resolve().parents[2]
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "lab"], cwd=root, check=True)
    ours = ["cargo", "run", "--release", "--quiet", "-p", "lab", "--", "steps", "--engine", arguments.engine]
    columns = ["sgmcmc"] + [label(kind, python) for kind, python in arguments.peer]
    peers = arguments.peers.resolve()

    print(f"{processor()}, {os.cpu_count()} threads. µs per step; in parentheses, the ratio to sgmcmc.\n")
    print("| workload | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|", flush=True)
    for workload in arguments.workloads:
        commands = [(ours + [workload], root)] + [([python, peers, kind, workload], None) for kind, python in arguments.peer]
        best = [None] * len(commands)
        for _ in range(arguments.rounds):
            for index, (command, cwd) in enumerate(commands):
                found = last_number(command, cwd)
                if found is not None and (best[index] is None or found < best[index]):
                    best[index] = found
        cells = [digits(best[0])]
        cells += [digits(b) if b is None or not best[0] else f"{digits(b)} ({b / best[0]:.2f})" for b in best[1:]]
        print(f"| `{workload}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

"""Executes a notebook, and checks that fits, summaries, checks and plots are shown as HTML and SVG.

Usage: execute.py NOTEBOOK [--write]
"""

import os
import sys

import nbformat
from nbclient import NotebookClient

# The first characters of a cell, the media type that it shows, and parts of the text.
EXPECTED = [
    ("fit", "text/html", ["<table>", "beta[income]", "no problem found"]),
    ("fit.summary_with", "text/html", ["<table>", "<th>median</th>", "beta[age]"]),
    ("fit.check", "text/html", ["<strong>✓ no problem found"]),
    ("fit.plot().trace", "image/svg+xml", ["<svg", "beta[age]"]),
    ("fit.plot().size", "image/svg+xml", ["<svg", "bias"]),
]


def shown(cell, media_type):
    """Returns what a cell shows in a media type."""
    found = [output["data"][media_type] for output in cell.outputs if media_type in output.get("data", {})]
    assert found, f"the cell `{cell.source}` shows no {media_type}: {cell.outputs}"
    return found[0]


def main(path, write):
    notebook = nbformat.read(path, as_version=4)
    # The path in `:dep` is relative to the directory of the notebook.
    directory = os.path.dirname(os.path.abspath(path))
    NotebookClient(notebook, timeout=3600, startup_timeout=600, resources={"metadata": {"path": directory}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for start, media_type, parts in EXPECTED:
        cell = next(cell for cell in cells if cell.source == start or (start != "fit" and cell.source.startswith(start)))
        text = shown(cell, media_type)
        for part in parts:
            assert part in text, f"the cell `{cell.source}` does not show `{part}`: {text[:2000]}"
        print(f"`{cell.source.splitlines()[0]}` shows {len(text)} characters of {media_type}")
    if write:
        for cell in cells:
            cell.metadata.pop("execution", None)
        nbformat.write(notebook, path)
    print(f"{len(cells)} cells run")


if __name__ == "__main__":
    main(sys.argv[1], "--write" in sys.argv[2:])

"""Checks that every dependency has a license that deny.toml allows."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

root = Path(__file__).resolve().parent.parent
allowed = set(tomllib.loads((root / "deny.toml").read_text())["licenses"]["allow"])
banned = {entry["crate"] for entry in tomllib.loads((root / "deny.toml").read_text())["bans"]["deny"]}


def is_allowed(expression: str) -> bool:
    """Evaluates an SPDX expression without precedence pitfalls: OR of ANDs, with parentheses."""
    expression = expression.replace("/", " OR ")
    tokens = re.findall(r"\(|\)|\bAND\b|\bOR\b|[A-Za-z0-9.+-]+(?: WITH [A-Za-z0-9.-]+)?", expression)

    def disjunction(position: int) -> tuple[bool, int]:
        value, position = conjunction(position)
        while position < len(tokens) and tokens[position] == "OR":
            other, position = conjunction(position + 1)
            value = value or other
        return value, position

    def conjunction(position: int) -> tuple[bool, int]:
        value, position = term(position)
        while position < len(tokens) and tokens[position] == "AND":
            other, position = term(position + 1)
            value = value and other
        return value, position

    def term(position: int) -> tuple[bool, int]:
        if tokens[position] == "(":
            value, position = disjunction(position + 1)
            return value, position + 1
        return tokens[position] in allowed, position + 1

    return disjunction(0)[0]


metadata = json.loads(
    subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
)
problems = []
for package in metadata["packages"]:
    name = f"{package['name']} {package['version']}"
    if package["name"] in banned:
        problems.append(f"{name} is banned by deny.toml")
    if package["source"] is None:
        continue
    license = package["license"]
    if license is None and package["license_file"] is None:
        problems.append(f"{name} has no license")
    elif license is not None and not is_allowed(license):
        problems.append(f"{name}: {license}")
print(f"{len(metadata['packages'])} packages, {len(problems)} problems")
print("\n".join(problems))
sys.exit(bool(problems))

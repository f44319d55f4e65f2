#!/bin/sh
# Draws the figures of docs/gallery.md into docs/gallery/. Run it after a change of a plot and commit the figures.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$root"
cargo run --release --quiet --example quickstart -- --quiet --out "$scratch"
mkdir -p docs/gallery
rm -f docs/gallery/*.svg
cp "$scratch"/*.svg docs/gallery/
ls -l docs/gallery

#!/bin/sh
# Builds the report of a made-up fit of 60 parameters, a page that compares two fits, and the page of `sgmcmc watch`, opens them in
# headless Chromium, and leaves screenshots.
#
#   tests/browser/run.sh [DIR]     (DIR: where report and screenshots go; default: target/browser)
#
# Fails on a console error, a page of 5 MB or more, an overflow on a phone, or search and paging that do not work.
# Needs Node; Chromium is installed by apt-get where it is missing. CHROMIUM names another executable.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-"$root/target/browser"}
mkdir -p "$out"
out=$(cd "$out" && pwd)

chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$chromium" ]; then
    apt-get install --yes chromium
    chromium=$(command -v chromium)
fi

# Packages stay outside of the repository.
modules="$out/modules"
mkdir -p "$modules"
cp "$here/package.json" "$here/look.mjs" "$here/pages.mjs" "$modules/"
(cd "$modules" && npm install --no-audit --no-fund --loglevel=error)

# With all packages selected, cargo uses the libraries that `cargo test --workspace` has built.
(cd "$root" && cargo build --quiet --workspace --bin lab --bin sgmcmc)
built="${CARGO_TARGET_DIR:-$root/target}/debug"
program="$built/sgmcmc"
"$built/lab" browser-pages "$out"

# `watch` writes the page again and again until the run ends, which this one does not.
rm -f "$out/watched.html"
"$program" watch "$out/under-way.sgmcmc" --html "$out/watched.html" >/dev/null &
watch=$!
trap 'kill "$watch" 2>/dev/null || true' EXIT
tries=0
while [ ! -s "$out/watched.html" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || { echo "\`sgmcmc watch\` wrote no page" >&2; exit 1; }
    sleep 0.2
done
kill "$watch"

(cd "$modules" && node look.mjs "$chromium" "$out/report.html" "$out")
(cd "$modules" && node pages.mjs "$chromium" "$out/comparison.html" "$out/watched.html" "$out")

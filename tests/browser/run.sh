#!/bin/sh
# Builds the report of a made-up fit of 60 parameters, opens it in headless Chromium, and leaves screenshots.
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
cp "$here/package.json" "$here/look.mjs" "$modules/"
(cd "$modules" && npm install --no-audit --no-fund --loglevel=error)

(cd "$root" && cargo run --quiet --package lab -- report-sixty "$out/report.html")
(cd "$modules" && node look.mjs "$chromium" "$out/report.html" "$out")

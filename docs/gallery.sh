#!/bin/sh
# Draws the figures of docs/gallery.md into docs/gallery/. Run it after a change of a plot and commit the figures. examples/run.sh
# draws those of examples/README.md, in docs/gallery/examples/.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
profile=${PROFILE:-release}
case $profile in dev) built=debug ;; *) built=$profile ;; esac

cd "$root"
built=${CARGO_TARGET_DIR:-target}/$built
cargo build --quiet --profile "$profile" --workspace --bin sgmcmc --example quickstart --example eight_schools
"$built/examples/quickstart" --quiet --out "$scratch"
"$built/examples/eight_schools" --quiet --fit "$scratch/schools.sgmcmc"
plot() {
    kind=$1 fit=$2 name=$3
    shift 3
    "$built/sgmcmc" plot "$kind" "$scratch/$fit.sgmcmc" "$@" --output "$scratch/$name.svg"
}
plot ess fit ess 'beta[0]'
plot r-hat fit r_hat 'beta[0]'
plot energy schools energy
plot parallel schools parallel theta
plot pareto-k schools pareto_k
plot loo-pit schools loo_pit effect
plot predictive schools predictive effect

mkdir -p docs/gallery
rm -f docs/gallery/*.svg
cp "$scratch"/*.svg docs/gallery/
ls -l docs/gallery

# The page shows the figures that there are.
show() {
    grep -q "(gallery/$1.svg)" docs/gallery.md || sed -i "/save(\"$1.svg\")/i ![$2](gallery/$1.svg)\n" docs/gallery.md
}
show ess "Effective sample sizes of bulk and tails against the number of draws"
show r_hat "R-hat against the number of draws"
show energy "Densities of the energy and of its changes"
show parallel "Parallel coordinates of the effects of eight schools"
show predictive "Densities of observed and replicated data"
show loo_pit "Histogram of leave-one-out probability integral transforms"
show pareto_k "Pareto k of each observation"

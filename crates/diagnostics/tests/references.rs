//! Everything against ArviZ 1.x, SciPy and NumPy: the files in `references` were written by `tests/python/diagnostics.py`.

#[path = "references/arviz.rs"]
mod arviz;
#[path = "references/distances.rs"]
mod distances;
#[path = "references/loo.rs"]
mod loo;
#[path = "references/reading.rs"]
mod reading;
#[path = "references/stein.rs"]
mod stein;

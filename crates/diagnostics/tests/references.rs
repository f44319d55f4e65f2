//! Comparison with ArviZ 1.x, SciPy and NumPy. `tests/python/diagnostics.py` writes the files in `references`.

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

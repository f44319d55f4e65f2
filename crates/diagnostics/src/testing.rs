//! Simulated chains for the unit tests.

/// Returns `n` draws of the autoregression x ← ρx + e with e uniform on (−1/2, 1/2).
pub(crate) fn autoregression(rho: f64, n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut x = 0.0;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 32)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..n)
        .map(|_| {
            x = rho * x + next();
            x
        })
        .collect()
}

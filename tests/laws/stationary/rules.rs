//! The rules of SGLD, SGHMC and BAOAB as linear chains, and their stationary covariances.

use sgmcmc::schedule::PerParameter;

use super::*;

/// The first `d` × `d` block of a covariance.
fn positions(sigma: &[f64], d: usize) -> Vec<f64> {
    let s = sigma.len().isqrt();
    (0..d * d).map(|k| sigma[k / d * s + k % d]).collect()
}

/// θ += h/2 ĝ + √(hT) z.
pub fn stationary_sgld(p: &Problem, h: f64, temperature: f64) -> Vec<f64> {
    let update = |s: &[f64], e: &[f64]| {
        let (z, xi) = e.split_at(p.d);
        add(&add(s, &p.g(s, xi), 0.5 * h), z, 1.0)
    };
    let noise = independent(&[isotropic(h * temperature, p.d), p.noise.clone()]);
    LinearChain { state: p.d, noise, update: &update }.stationary_covariance()
}

pub fn sgld_law(p: &Problem) -> Vec<f64> {
    stationary_sgld(p, SIZE, TEMPERATURE)
}

pub const SGHMC: Sghmc = Sghmc { alpha: PerParameter::new(0.3), steps: 3, noise: NoiseEstimate::Fixed(0.1) };

/// The settings of SGHMC, coordinate by coordinate.
pub struct SghmcSettings<'a> {
    pub alpha: &'a [f64],
    pub h: &'a [f64],
    pub steps: usize,
    pub beta: f64,
    pub temperature: f64,
}

/// ν ~ N(0, h(T − β̂/2)); ν += h/2 ĝ(θ); θ += ν; then L − 1 times ν += h/2 ĝ(θ); ν ← (1−α)ν + noise; ν += h/2 ĝ(θ) on the same minibatch; θ += ν. The
/// variance of the noise is that of exact friction, (1 − (1−α)²)hT, less the part (1 − α/2)²h²V, V = 2β̂/h, which the gradient contributes.
pub fn sghmc_chain(p: &Problem, settings: &SghmcSettings<'_>, use_it: &dyn Fn(&LinearChain<'_>)) {
    let SghmcSettings { alpha, h, steps, beta, temperature } = *settings;
    let d = p.d;
    let half_kick = |v: &[f64], g: &[f64]| -> Vec<f64> { (0..d).map(|i| v[i] + 0.5 * h[i] * g[i]).collect() };
    let update = |s: &[f64], e: &[f64]| {
        let mut v = half_kick(&e[..d], &p.g(s, &e[d..2 * d]));
        let mut theta = add(s, &v, 1.0);
        for inner in e[2 * d..].chunks_exact(2 * d) {
            let g = p.g(&theta, &inner[..d]);
            v = half_kick(&v, &g);
            v = (0..d).map(|i| (1.0 - alpha[i]) * v[i] + inner[d + i]).collect();
            v = half_kick(&v, &g);
            theta = add(&theta, &v, 1.0);
        }
        theta
    };
    let variances = |of: &dyn Fn(usize) -> f64| diagonal(&(0..d).map(of).collect::<Vec<_>>());
    let friction = |i: usize| (1.0 - (1.0 - alpha[i]).powi(2)) * temperature;
    let heat = variances(&|i| h[i] * (friction(i) - (1.0 - 0.5 * alpha[i]).powi(2) * 2.0 * beta));
    let mut blocks = vec![variances(&|i| h[i] * (temperature - 0.5 * beta)), p.noise.clone()];
    for _ in 1..steps {
        blocks.extend([p.noise.clone(), heat.clone()]);
    }
    use_it(&LinearChain { state: d, noise: independent(&blocks), update: &update });
}

pub fn stationary_sghmc(p: &Problem, settings: &SghmcSettings<'_>) -> Vec<f64> {
    let covariance = std::cell::RefCell::new(Vec::new());
    sghmc_chain(p, settings, &|chain| *covariance.borrow_mut() = chain.stationary_covariance());
    covariance.into_inner()
}

/// The settings of the law tests.
pub fn tested<'a>(alpha: &'a [f64], h: &'a [f64]) -> SghmcSettings<'a> {
    SghmcSettings { alpha, h, steps: 3, beta: 0.1, temperature: TEMPERATURE }
}

pub fn sghmc_law(p: &Problem) -> Vec<f64> {
    stationary_sghmc(p, &tested(&vec![0.3; p.d], &vec![SIZE; p.d]))
}

/// B ½, A ½, O, A ½, B ½ with the new gradient; the state is (θ, ν, ξ).
pub fn stationary_baoab(p: &Problem, alpha: f64, h: f64, temperature: f64) -> Vec<f64> {
    let d = p.d;
    let update = |s: &[f64], e: &[f64]| {
        let (theta, v, xi) = (&s[..d], &s[d..2 * d], &s[2 * d..]);
        let v = add(v, &p.g(theta, xi), 0.5 * h);
        let theta = add(theta, &v, 0.5);
        let kept: Vec<f64> = v.iter().map(|v| (-alpha).exp() * v).collect();
        let v = add(&kept, &e[..d], 1.0);
        let theta = add(&theta, &v, 0.5);
        let v = add(&v, &p.g(&theta, &e[d..]), 0.5 * h);
        [theta, v, e[d..].to_vec()].concat()
    };
    let heat = isotropic((1.0 - (-2.0 * alpha).exp()) * h * temperature, d);
    let noise = independent(&[heat, p.noise.clone()]);
    positions(&LinearChain { state: 3 * d, noise, update: &update }.stationary_covariance(), d)
}

pub fn baoab_law(p: &Problem) -> Vec<f64> {
    stationary_baoab(p, 0.4, SIZE, TEMPERATURE)
}

/// Frictions of the first, second and third parameter.
pub fn by_name(first: f64, second: f64, third: f64) -> PerParameter<f64> {
    PerParameter::from(second).parameter("first", first).parameter("third", third)
}

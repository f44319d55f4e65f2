//! Preconditioned SGLD, and algorithms that equal it or SGLD for special matrices.

use super::*;

/// θ += h/2 M ĝ + √(hT) M^{1/2} z with `hm` = h M.
fn preconditioned_law<R>(p: &Problem, hm: &[f64], use_it: impl Fn(&LinearChain<'_>) -> R) -> R {
    let update = |s: &[f64], e: &[f64]| {
        let (z, xi) = e.split_at(p.d);
        add(&add(s, &apply(hm, &p.g(s, xi)), 0.5), z, 1.0)
    };
    let heat = hm.iter().map(|m| TEMPERATURE * m).collect();
    use_it(&LinearChain { state: p.d, noise: independent(&[heat, p.noise.clone()]), update: &update })
}

#[test]
fn preconditioned_sgld_has_its_stationary_law() {
    for d in [1, 5] {
        let m = matrix(d);
        let parts: Vec<f64> = m.iter().step_by(d + 1).copied().collect();
        let cases = [
            (PreconditionedSgld::dense(&m, d).unwrap(), m.clone()),
            (PreconditionedSgld::from_precision(&inverse(&m, d), d).unwrap(), m),
            (PreconditionedSgld::diagonal(parts.clone()), diagonal(&parts)),
        ];
        for (dynamics, m) in cases {
            let p = Problem::new(d, minibatch_factor());
            let law = preconditioned_law(&p, &scaled(&m, SIZE), |chain| chain.stationary_covariance());
            assert_stationary(&p, &recipe(dynamics.clone(), batches(), SIZE, TEMPERATURE), &law);
            let p = Problem::new(d, 0.0);
            let law = preconditioned_law(&p, &scaled(&m, SIZE), |chain| chain.stationary_covariance());
            let controlled = ControlVariate::new(WithoutReplacement::new(BATCH));
            assert_stationary(&p, &recipe(dynamics, controlled, SIZE, TEMPERATURE), &law);
        }
    }
}

#[test]
fn one_step_of_preconditioned_sgld_has_the_right_drift_and_diffusion() {
    let p = Problem::new(2, minibatch_factor());
    let m = matrix(2);
    let dense = PreconditionedSgld::dense(&m, 2).unwrap();
    preconditioned_law(&p, &scaled(&m, SIZE), |law| assert_displacement(dense.clone(), SIZE, 1, law, &START));
}

/// Step sizes by parameter: H^{1/2} M H^{1/2}.
#[test]
fn step_sizes_by_parameter_scale_both_sides_of_the_matrix() {
    let (d, h) = (5, [SIZE, SIZE, SIZE, 0.4 * SIZE, 0.4 * SIZE]);
    let p = Problem::new(d, minibatch_factor());
    let m = matrix(d);
    let hm: Vec<f64> = (0..d * d).map(|k| m[k] * (h[k / d] * h[k % d]).sqrt()).collect();
    let law = preconditioned_law(&p, &hm, |chain| chain.stationary_covariance());
    let step_size = StepSize::from(SIZE).parameter("third", 0.4 * SIZE);
    let dynamics = PreconditionedSgld::dense(&m, d).unwrap();
    assert_stationary(&p, &recipe(dynamics, batches(), step_size, TEMPERATURE), &law);
}

#[test]
fn with_the_identity_all_are_sgld() {
    let sgld = path(Sgld, batches(), 1.0, 50);
    assert_eq!(path(PreconditionedSgld::diagonal(vec![1.0; 5]), batches(), 1.0, 50), sgld);
    assert!(
        farthest(&path(PreconditionedSgld::dense(&isotropic(1.0, 5), 5).unwrap(), batches(), 1.0, 50), &sgld) < 1e-13
    );
    let flat = Metric::diagonal(|_, m| m.fill(1.0));
    assert_eq!(path(Sgrld::new(flat), batches(), 1.0, 50), sgld);
    // Until there are pairs H is γI.
    let first = path(Hamcmc { gamma: InitialScale::Fixed(1.0), ..Hamcmc::default() }, batches(), 1.0, 1);
    assert!(farthest(&first, &sgld[..1]) < 1e-15);
}

/// A matrix that does not depend on θ: SGRLD is preconditioned SGLD.
#[test]
fn with_a_constant_metric_sgrld_is_preconditioned_sgld() {
    let m = matrix(5);
    let dense = m.clone();
    let metric = Metric::dense(move |_, out| out.copy_from_slice(&dense));
    let p = Problem::new(5, 0.0);
    let riemannian = recipe(Sgrld::new(metric), batches(), SIZE, TEMPERATURE);
    let constant = recipe(PreconditionedSgld::dense(&m, 5).unwrap(), batches(), SIZE, TEMPERATURE);
    let riemannian = follow(&mut p.chain(&riemannian, &[0.3; 5], 3), 50);
    assert!(farthest(&riemannian, &follow(&mut p.chain(&constant, &[0.3; 5], 3), 50)) < 1e-12);
}

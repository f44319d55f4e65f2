//! Stationary laws of SGLD, SGHMC and BAOAB under each gradient estimator.

use super::*;

fn assert_law<D, G>(dynamics: D, gradient: G, factor: f64, d: usize, law: fn(&Problem) -> Vec<f64>)
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let problem = Problem::new(d, factor);
    let expected = law(&problem);
    assert_stationary(&problem, &recipe(dynamics, gradient, SIZE, TEMPERATURE), &expected);
}

macro_rules! laws {
    ($($name:ident: $dynamics:expr, $law:ident);+ $(;)?) => {
        $(mod $name {
            use super::*;

            #[test]
            fn with_minibatches() {
                for d in [1, 5] {
                    let gradient = MinibatchGradient::new(WithoutReplacement::new(BATCH));
                    assert_law($dynamics, gradient, minibatch_factor(), d, $law);
                }
            }

            #[test]
            fn with_replacement() {
                let gradient = MinibatchGradient::new(WithReplacement::new(BATCH));
                assert_law($dynamics, gradient, with_replacement_factor(), 1, $law);
            }

            #[test]
            fn with_control_variates() {
                for d in [1, 5] {
                    assert_law($dynamics, ControlVariate::new(WithoutReplacement::new(BATCH)), 0.0, d, $law);
                }
            }

            #[test]
            fn with_the_full_gradient() {
                for d in [1, 5] {
                    assert_law($dynamics, FullGradient, 0.0, d, $law);
                }
            }
        })+
    };
}

laws! {
    sgld: Sgld, sgld_law;
    sghmc: SGHMC, sghmc_law;
    baoab: Baoab { alpha: 0.4, ..Baoab::default() }, baoab_law;
}

/// Frictions and step sizes by parameter, which do not change at the same places.
#[test]
fn sghmc_with_a_friction_for_each_parameter() {
    let problem = Problem::new(5, minibatch_factor());
    let (alpha, h) = ([0.9, 0.2, 0.2, 0.5, 0.5], [SIZE, SIZE, SIZE, 0.4 * SIZE, 0.4 * SIZE]);
    let dynamics = Sghmc { alpha: by_name(0.9, 0.2, 0.5), ..SGHMC };
    let gradient = MinibatchGradient::new(WithoutReplacement::new(BATCH));
    let step_size = StepSize::from(SIZE).parameter("third", 0.4 * SIZE);
    let recipe = recipe(dynamics, gradient, step_size, TEMPERATURE);
    assert_stationary(&problem, &recipe, &stationary_sghmc(&problem, &tested(&alpha, &h)));
}

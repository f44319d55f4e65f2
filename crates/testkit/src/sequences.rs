//! Models of sequences, written as loops over time, as repeated tensor operations, and by hand.
//!
//! Each observation is one series. The parameters are a vector.

use sgmcmc::TensorTree;
use sgmcmc::distributions::Normal;
use sgmcmc::prelude::*;
use sgmcmc::sequence::scan;
use sgmcmc::special::logsumexp;

/// The way in which the steps of a sequence are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a loop over time.
    Scan,
    /// As tensor operations for each step.
    Repeated,
}

impl Form {
    /// Executes a body for each step of `y`, of shape `[n, T]`. Returns the last state, and the outputs, of shape
    /// `[n, T]`.
    fn run<S: TensorTree>(
        self,
        state: S,
        y: Tensor<2>,
        body: impl Fn(S, Tensor<2>) -> (S, Tensor<2>),
    ) -> (S, Tensor<2>) {
        match self {
            Self::Scan => {
                let done = scan(state, y, 1, body);
                (done.last, done.outputs)
            }
            Self::Repeated => {
                let (mut state, mut outputs) = (state, vec![]);
                for step in 0..y.dims()[1] {
                    let (next, output) = body(state, y.clone().narrow(1, step, 1));
                    state = next;
                    outputs.push(output);
                }
                (state, Tensor::cat(outputs, 1))
            }
        }
    }
}

/// A model of series, and a point of its parameter space.
pub struct Sequential {
    /// The name of the model.
    pub name: &'static str,
    /// The log-likelihood of each series.
    pub log_likelihood: fn(Form, Tensor<1>, Tensor<2>) -> Tensor<1>,
    /// A typical value of the parameters.
    pub theta: &'static [f64],
}

impl std::fmt::Debug for Sequential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sequential").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Sequential {
    /// Returns the model in this form, with a standard normal prior.
    pub fn model(&self, form: Form) -> Model<Tensor<1>, Tensor<2>> {
        let log_likelihood = self.log_likelihood;
        Model::new(move |theta: Tensor<1>, y: Tensor<2>| log_likelihood(form, theta, y))
            .prior(|theta: Tensor<1>| theta.square().sum() * -0.5)
    }
}

/// All models.
pub const SEQUENTIAL: [Sequential; 6] = [
    Sequential { name: "AR(2)", log_likelihood: autoregression, theta: &[0.1, 0.5, -0.3, 0.2] },
    Sequential { name: "GARCH(1,1)", log_likelihood: garch, theta: &[-2.0, -2.0, -0.3] },
    Sequential { name: "hidden Markov model", log_likelihood: hidden_markov, theta: &[-0.8, 0.9, 1.5, 1.2] },
    Sequential { name: "Kalman filter", log_likelihood: kalman, theta: &[0.8, -1.0, -0.5] },
    Sequential { name: "local linear trend", log_likelihood: trend, theta: &[-1.0, -2.0, -0.5] },
    Sequential { name: "Runge-Kutta steps", log_likelihood: predator_and_prey, theta: &[0.3, 0.2, 0.25] },
];

/// Returns parameter `index` with shape `[1, 1]`.
fn at(theta: &Tensor<1>, index: usize) -> Tensor<2> {
    theta.clone().narrow(0, index, 1).unsqueeze()
}

fn total(terms: Tensor<2>) -> Tensor<1> {
    terms.sum_dim(1).squeeze_dim(1)
}

/// The states are the last two observations.
fn autoregression(form: Form, theta: Tensor<1>, y: Tensor<2>) -> Tensor<1> {
    let [mean, first, second, log_scale] = [0, 1, 2, 3].map(|index| at(&theta, index));
    let zero = y.clone().narrow(1, 0, 1).zeros_like();
    let (_, terms) = form.run((zero.clone(), zero), y, |(a, b), y| {
        let expected = mean.clone() + first.clone() * a.clone() + second.clone() * b;
        let z = (y.clone() - expected) / log_scale.clone().exp();
        ((y, a), z.square() * -0.5 - log_scale.clone())
    });
    total(terms)
}

/// h′ = ω + α y² + β h, with the logarithms of ω, α and β as parameters.
fn garch(form: Form, theta: Tensor<1>, y: Tensor<2>) -> Tensor<1> {
    let [omega, alpha, beta] = [0, 1, 2].map(|index| at(&theta, index).exp());
    let (_, h) = form.run(y.clone().narrow(1, 0, 1) * 0.0 + omega.clone(), y.clone(), |h, y| {
        let next = omega.clone() + alpha.clone() * y.square() + beta.clone() * h.clone();
        (next, h)
    });
    total((h.clone().log() + y.square() / h) * -0.5)
}

/// Two states with normal observations of variance one. The parameters are their means, and the logits of the
/// probabilities to stay.
fn hidden_markov(form: Form, theta: Tensor<1>, y: Tensor<2>) -> Tensor<1> {
    let means = theta.clone().narrow(0, 0, 2).unsqueeze::<2>();
    let stay = theta.narrow(0, 2, 2);
    let log_sigmoid = sgmcmc::burn::activation::log_sigmoid;
    let (same, other) = (log_sigmoid(stay.clone()), log_sigmoid(stay.neg()));
    let first = Tensor::cat(vec![same.clone().narrow(0, 0, 1), other.clone().narrow(0, 0, 1)], 0);
    let second = Tensor::cat(vec![other.narrow(0, 1, 1), same.narrow(0, 1, 1)], 0);
    let moves = Tensor::stack::<2>(vec![first, second], 0).unsqueeze::<3>();
    let start = means.zeros_like() + 0.5_f64.ln();
    let (last, _) = form.run(start, y, |log_p: Tensor<2>, y| {
        let seen = log_p + Normal::new(means.clone(), 1.0).log_prob(y.clone().repeat_dim(1, 2));
        (logsumexp(seen.unsqueeze_dim::<3>(2) + moves.clone(), 1).squeeze_dim::<2>(1), y)
    });
    logsumexp(last, 1).squeeze_dim(1)
}

/// The filter of an AR(1) process that is observed with noise. The state is the mean and the variance.
fn kalman(form: Form, theta: Tensor<1>, y: Tensor<2>) -> Tensor<1> {
    let phi = at(&theta, 0).tanh();
    let [q, r] = [1, 2].map(|index| at(&theta, index).exp());
    let start = (phi.zeros_like(), phi.ones_like());
    let (_, terms) = form.run(start, y, |(mean, variance), y| {
        let mean = phi.clone() * mean;
        let variance = phi.clone().square() * variance + q.clone();
        let total = variance.clone() + r.clone();
        let gain = variance.clone() / total.clone();
        let error = y - mean.clone();
        let term = (total.clone().log() + error.clone().square() / total) * -0.5;
        ((mean + gain.clone() * error, (gain.neg() + 1.0) * variance), term)
    });
    total(terms)
}

/// The filter of [`SEQUENTIAL`]'s AR(1) process with noise, on windows of a series: the terms inside a subsequence.
pub fn on_windows(theta: Tensor<1>, (y, inside): (Tensor<2>, Tensor<2>)) -> Tensor<1> {
    let at = |index: usize| theta.clone().narrow(0, index, 1).unsqueeze::<2>();
    let (phi, q, r) = (at(0).tanh(), at(1).exp(), at(2).exp());
    let done = scan((phi.zeros_like(), phi.ones_like()), y, 1, |(mean, variance): (Tensor<2>, Tensor<2>), y| {
        let mean = phi.clone() * mean;
        let variance = phi.clone().square() * variance + q.clone();
        let total = variance.clone() + r.clone();
        let gain = variance.clone() / total.clone();
        let error: Tensor<2> = y - mean.clone();
        let term = (total.clone().log() + error.clone().square() / total) * -0.5;
        ((mean + gain.clone() * error, (gain.neg() + 1.0) * variance), term)
    });
    (done.outputs * inside).sum_dim(1).squeeze_dim(1)
}

/// The filter of a level with a slope, with matrices.
fn trend(form: Form, theta: Tensor<1>, y: Tensor<2>) -> Tensor<1> {
    let [level, slope, noise] = [0, 1, 2].map(|index| at(&theta, index).exp().unsqueeze::<3>());
    let zero = level.zeros_like();
    let one = zero.clone() + 1.0;
    let row = |a: Tensor<3>, b: Tensor<3>| Tensor::cat(vec![a, b], 2);
    let transition = Tensor::cat(vec![row(one.clone(), one.clone()), row(zero.clone(), one.clone())], 1);
    let q = Tensor::cat(vec![row(level, zero.clone()), row(zero.clone(), slope)], 1);
    let start = (Tensor::cat(vec![zero.clone(), zero.clone()], 1), q.zeros_like() + 0.5);
    let (_, terms) = form.run(start, y, |(mean, covariance): (Tensor<3>, Tensor<3>), y| {
        let [n, _] = y.dims();
        let f = transition.clone();
        let repeated = |x: Tensor<3>| if x.dims()[0] == n { x } else { x.repeat_dim(0, n) };
        let f = repeated(f);
        let mean = f.clone().matmul(repeated(mean));
        let covariance = f.clone().matmul(repeated(covariance)).matmul(f.swap_dims(1, 2)) + q.clone();
        let gain = covariance.clone().narrow(2, 0, 1);
        let total = gain.clone().narrow(1, 0, 1) + noise.clone();
        let error = y.unsqueeze_dim::<3>(2) - mean.clone().narrow(1, 0, 1);
        let term = (total.clone().log() + error.clone().square() / total.clone()) * -0.5;
        let weighted = gain.clone() / total;
        let next = (mean + weighted.clone() * error, covariance - weighted.matmul(gain.swap_dims(1, 2)));
        (next, term.squeeze_dim(2))
    });
    total(terms)
}

/// The fourth-order Runge-Kutta method for two species, one of which is observed.
fn predator_and_prey(form: Form, theta: Tensor<1>, y: Tensor<2>) -> Tensor<1> {
    let [growth, catch, death] = [0, 1, 2].map(|index| at(&theta, index));
    let slope = |(a, b): (Tensor<2>, Tensor<2>)| {
        let met = a.clone() * b.clone() * catch.clone();
        (growth.clone() * a - met.clone(), met - death.clone() * b)
    };
    let moved = |(a, b): &(Tensor<2>, Tensor<2>), (da, db): &(Tensor<2>, Tensor<2>), h: f64| {
        (a.clone() + da.clone() * h, b.clone() + db.clone() * h)
    };
    let start = (growth.ones_like(), growth.ones_like() * 0.5);
    let (_, terms) = form.run(start, y, |state, y| {
        let h = 0.2;
        let k1 = slope(state.clone());
        let k2 = slope(moved(&state, &k1, h / 2.0));
        let k3 = slope(moved(&state, &k2, h / 2.0));
        let k4 = slope(moved(&state, &k3, h));
        let combined = |a: Tensor<2>, b: Tensor<2>, c: Tensor<2>, d: Tensor<2>| (a + (b + c) * 2.0 + d) * (h / 6.0);
        let next = (state.0 + combined(k1.0, k2.0, k3.0, k4.0), state.1 + combined(k1.1, k2.1, k3.1, k4.1));
        let term = (y - next.0.clone()).square() * -0.5;
        (next, term)
    });
    total(terms)
}

/// Returns the log-likelihood of the GARCH model for one series, and adds its gradient.
pub fn garch_by_hand(theta: &[f64], y: &[f64], path: &mut Vec<f64>, grad: &mut [f64]) -> f64 {
    let [omega, alpha, beta] = [theta[0].exp(), theta[1].exp(), theta[2].exp()];
    path.clear();
    let (mut h, mut value) = (omega, 0.0);
    for y in y {
        path.push(h);
        value -= 0.5 * (h.ln() + y * y / h);
        h = omega + alpha * y * y + beta * h;
    }
    let (mut adjoint, mut sums) = (0.0, [0.0; 3]);
    for (y, h) in y.iter().zip(path.iter()).rev() {
        sums[0] += adjoint;
        sums[1] += adjoint * y * y;
        sums[2] += adjoint * h;
        adjoint = adjoint * beta - 0.5 * (1.0 - y * y / h) / h;
    }
    // The first variance is ω.
    grad[0] += (sums[0] + adjoint) * omega;
    grad[1] += sums[1] * alpha;
    grad[2] += sums[2] * beta;
    value
}

/// Returns the log-likelihood of the hidden Markov model for one series, and adds its gradient.
pub fn hidden_markov_by_hand(theta: &[f64], y: &[f64], weights: &mut Vec<[f64; 4]>, grad: &mut [f64]) -> f64 {
    let log_sigmoid = |x: f64| x.min(0.0) - (-x.abs()).exp().ln_1p();
    let add = |a: f64, b: f64| {
        let largest = a.max(b);
        largest + ((a - largest).exp() + (b - largest).exp()).ln()
    };
    let moves = [log_sigmoid(theta[2]), log_sigmoid(-theta[2]), log_sigmoid(-theta[3]), log_sigmoid(theta[3])];
    let constant = 0.5 * (2.0 * std::f64::consts::PI).ln();
    weights.clear();
    let mut state = [0.5_f64.ln(); 2];
    for y in y {
        let seen = [0, 1].map(|k| state[k] - 0.5 * (y - theta[k]) * (y - theta[k]) - constant);
        let terms = [seen[0] + moves[0], seen[0] + moves[1], seen[1] + moves[2], seen[1] + moves[3]];
        state = [add(terms[0], terms[2]), add(terms[1], terms[3])];
        weights.push([0, 1, 2, 3].map(|ij: usize| (terms[ij] - state[ij % 2]).exp()));
    }
    let value = add(state[0], state[1]);
    let mut adjoint = [(state[0] - value).exp(), (state[1] - value).exp()];
    let mut of_moves = [0.0; 4];
    for (y, weights) in y.iter().zip(weights.iter()).rev() {
        let flows = [0, 1, 2, 3].map(|ij: usize| weights[ij] * adjoint[ij % 2]);
        of_moves.iter_mut().zip(flows).for_each(|(sum, flow)| *sum += flow);
        adjoint = [flows[0] + flows[1], flows[2] + flows[3]];
        grad[0] += adjoint[0] * (y - theta[0]);
        grad[1] += adjoint[1] * (y - theta[1]);
    }
    // d log σ(x)/dx = σ(−x).
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    grad[2] += of_moves[0] * sigmoid(-theta[2]) - of_moves[1] * sigmoid(theta[2]);
    grad[3] += of_moves[3] * sigmoid(-theta[3]) - of_moves[2] * sigmoid(theta[3]);
    value
}

/// Returns a series of `steps` numbers with a changing spread.
pub fn series(steps: usize, seed: usize) -> Vec<f64> {
    let uniform = |i: usize| ((i * 7919 + seed * 104_729) % 10_007) as f64 / 10_007.0 - 0.5;
    (0..steps).map(|i| uniform(i) * (2.5 + (i as f64 * 0.05).sin())).collect()
}

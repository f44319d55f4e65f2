//! Supports: quadrature over them, points to try inside, at the edges and outside.

use std::f64::consts::FRAC_PI_2;

/// The location in the case of the Laplace distribution.
const KINK: f64 = 0.3;

/// Where the values of a distribution lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    Line,
    Positive,
    Interval(f64, f64),
    /// 0 … the number.
    Counts(usize),
    Plane,
    /// Three proportions.
    Simplex,
    /// Three counts with this sum.
    Cells(usize),
}

/// Points with weights, such that sums of weight × density are probabilities. Points on the line ascend.
type Nodes = Vec<(Vec<f64>, f64)>;

/// Double-exponential quadrature: the trapezoidal rule in t after a substitution x(t) with derivative.
fn substituted(reach: f64, steps: i32, x: impl Fn(f64) -> (f64, f64)) -> Vec<(f64, f64)> {
    let h = reach / f64::from(steps);
    let nodes = (-steps..=steps).map(|k| x(h * f64::from(k)));
    nodes.map(|(x, derivative)| (x, h * derivative)).filter(|(_, weight)| weight.is_finite()).collect()
}

fn half_line() -> Vec<(f64, f64)> {
    substituted(6.0, 600, |t| {
        let x = (FRAC_PI_2 * t.sinh()).exp();
        (x, x * FRAC_PI_2 * t.cosh())
    })
}

/// Two half lines that meet where the case of the Laplace distribution has its kink.
fn line() -> Vec<(f64, f64)> {
    let half = half_line();
    let below = half.iter().rev().map(|(x, weight)| (KINK - x, *weight));
    below.chain(half.iter().map(|(x, weight)| (KINK + x, *weight))).collect()
}

fn interval(low: f64, high: f64, steps: i32) -> Vec<(f64, f64)> {
    substituted(4.5, steps, |t| {
        let e = (-2.0 * FRAC_PI_2 * t.sinh()).exp();
        let u = 1.0 / (1.0 + e);
        (low + (high - low) * u, (high - low) * u * u * e * 2.0 * FRAC_PI_2 * t.cosh())
    })
}

impl Support {
    pub fn nodes(self) -> Nodes {
        let single = |nodes: Vec<(f64, f64)>| nodes.into_iter().map(|(x, w)| (vec![x], w)).collect();
        match self {
            Self::Line => single(line()),
            Self::Positive => single(half_line()),
            Self::Interval(low, high) => single(interval(low, high, 400)),
            Self::Counts(most) => (0..=most).map(|count| (vec![count as f64], 1.0)).collect(),
            Self::Plane => {
                let grid: Vec<f64> = (-120..=120).map(|k| 0.1 * f64::from(k)).collect();
                grid.iter().flat_map(|x| grid.iter().map(|y| (vec![*x, *y], 0.01))).collect()
            }
            Self::Simplex => {
                let nodes = interval(0.0, 1.0, 60);
                let triangle = |(u, wu): (f64, f64)| {
                    nodes.iter().map(move |(v, wv)| {
                        let rest = 1.0 - u;
                        (vec![u, rest * v, rest * (1.0 - v)], wu * wv * rest)
                    })
                };
                nodes.iter().flat_map(|node| triangle(*node)).collect()
            }
            Self::Cells(total) => (0..=total)
                .flat_map(|a| (0..=total - a).map(move |b| (vec![a as f64, b as f64, (total - a - b) as f64], 1.0)))
                .collect(),
        }
    }

    pub fn is_discrete(self) -> bool {
        matches!(self, Self::Counts(_) | Self::Cells(_))
    }

    /// Ordinary points and points far out, where gradients are compared with differences.
    pub fn inside(self) -> Vec<Vec<f64>> {
        let rows = |rows: &[&[f64]]| rows.iter().map(|row| row.to_vec()).collect();
        match self {
            Self::Line => rows(&[&[-1e6], &[-40.0], &[-2.9], &[0.26], &[1.9], &[33.0], &[1e4]]),
            Self::Positive => rows(&[&[1e-5], &[0.02], &[0.9], &[1.7], &[12.0], &[300.0]]),
            Self::Interval(low, high) => {
                [1e-6, 0.02, 0.4, 0.77, 1.0 - 1e-5].iter().map(|u| vec![low + (high - low) * u]).collect()
            }
            Self::Counts(most) => [0, 1, most / 2, most].iter().map(|count| vec![*count as f64]).collect(),
            Self::Plane => rows(&[&[0.4, -0.7], &[-3.0, 2.0], &[1e3, -1e4], &[1e-4, 5.0]]),
            Self::Simplex => rows(&[&[0.2, 0.3, 0.5], &[1e-5, 0.4, 0.59999], &[0.98, 0.01, 0.01]]),
            Self::Cells(_) => rows(&[&[0.0, 0.0, 5.0], &[2.0, 2.0, 1.0], &[30.0, 0.0, 2.0]]),
        }
    }

    /// Points at the edges and very far out, where nothing may be NaN.
    pub fn extremes(self) -> Vec<Vec<f64>> {
        let rows = |rows: &[&[f64]]| rows.iter().map(|row| row.to_vec()).collect();
        match self {
            Self::Line => rows(&[&[0.0], &[-1e10], &[1e15], &[-1e25], &[1e30], &[1e-30]]),
            Self::Positive => rows(&[&[0.0], &[1e-30], &[1e-10], &[1e5], &[1e15], &[1e30]]),
            Self::Interval(low, high) => rows(&[&[low], &[high], &[low + 1e-30], &[high - 1e-7]]),
            Self::Counts(most) => rows(&[&[0.0], &[1.0], &[most as f64]]),
            Self::Plane => rows(&[&[0.0, 0.0], &[1e10, -1e10]]),
            Self::Simplex => rows(&[&[1.0, 0.0, 0.0], &[1e-30, 1.0, 1e-20]]),
            Self::Cells(_) => rows(&[&[0.0, 0.0, 0.0], &[0.0, 1e5, 0.0]]),
        }
    }

    /// Points outside, where the density is zero.
    pub fn outside(self) -> Vec<Vec<f64>> {
        let rows = |rows: &[&[f64]]| rows.iter().map(|row| row.to_vec()).collect();
        match self {
            Self::Line | Self::Plane | Self::Counts(1) => Vec::new(),
            Self::Positive => rows(&[&[-1e-30], &[-1.0], &[-1e20]]),
            Self::Interval(low, high) => rows(&[&[low - 1e-3], &[high + 1e-3], &[-1e20], &[1e20]]),
            Self::Counts(2) => rows(&[&[-1.0], &[3.0]]),
            Self::Counts(12) => rows(&[&[-1.0], &[13.0]]),
            Self::Counts(_) => rows(&[&[-1.0], &[-1000.0]]),
            Self::Simplex => rows(&[&[-0.1, 1.1, 0.0], &[-1.0, 0.0, 2.0]]),
            Self::Cells(_) => rows(&[&[-1.0, 3.0, 3.0]]),
        }
    }
}

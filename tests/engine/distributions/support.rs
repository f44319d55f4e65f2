//! Supports: quadrature over them, points to try inside, at the edges and outside.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

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
    /// An angle.
    Circle,
    /// Between two limits, which have probabilities of their own.
    Recorded(f64, f64),
    /// The entries (1, 1), (2, 1) and (2, 2) of a positive definite matrix.
    Definite,
    /// The entries (2, 1), (3, 1) and (3, 2) of a correlation matrix.
    Correlations,
    /// The entries (2, 1), (3, 1) and (3, 2) of the Cholesky factor of a correlation matrix.
    Factors,
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

/// Nodes in the cube (−1, 1)³, moved by a map with its Jacobian.
fn cube(map: impl Fn([f64; 3]) -> (Vec<f64>, f64)) -> Nodes {
    let nodes = interval(-1.0, 1.0, 24);
    let mut moved = Vec::with_capacity(nodes.len().pow(3));
    for (u, of_u) in &nodes {
        for (v, of_v) in &nodes {
            for (w, of_w) in &nodes {
                let (x, jacobian) = map([*u, *v, *w]);
                moved.push((x, of_u * of_v * of_w * jacobian));
            }
        }
    }
    moved
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
            Self::Circle => {
                let step = TAU / 400.0;
                single((0..400).map(|k| (-PI + step * (f64::from(k) + 0.5), step)).collect())
            }
            Self::Recorded(low, high) => {
                let mut nodes = vec![(low, 1.0)];
                nodes.extend(interval(low, high, 400).into_iter().filter(|(x, _)| *x > low && *x < high));
                nodes.push((high, 1.0));
                single(nodes)
            }
            Self::Definite => {
                let logs: Vec<f64> = (-34..=34).map(|k| 0.35 * f64::from(k)).collect();
                let correlations = interval(-1.0, 1.0, 30);
                let node = |s: f64, t: f64, (r, weight): (f64, f64)| {
                    let (a, c) = (s.exp(), t.exp());
                    let root = (a * c).sqrt();
                    (vec![a, r * root, c], 0.1225 * a * c * root * weight)
                };
                let pairs = logs.iter().flat_map(|s| logs.iter().map(move |t| (*s, *t)));
                pairs.flat_map(|(s, t)| correlations.iter().map(move |r| node(s, t, *r))).collect()
            }
            Self::Correlations => cube(|[u, v, w]| {
                let root = ((1.0 - u * u) * (1.0 - v * v)).sqrt();
                (vec![u, v, u * v + w * root], root)
            }),
            Self::Factors => cube(|[u, v, w]| {
                let root = (1.0 - v * v).sqrt();
                (vec![u, v, w * root], root)
            }),
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
            Self::Circle => rows(&[&[-3.0], &[-0.5], &[0.26], &[1.9], &[3.1], &[40.0]]),
            Self::Recorded(low, high) => [0.02, 0.4, 0.77].iter().map(|u| vec![low + (high - low) * u]).collect(),
            Self::Definite => rows(&[&[1.0, 0.3, 2.0], &[0.02, -0.01, 0.5], &[30.0, -12.0, 9.0]]),
            Self::Correlations => rows(&[&[0.2, -0.3, 0.5], &[0.9, 0.5, 0.2], &[-0.01, 0.9, 0.1]]),
            Self::Factors => rows(&[&[0.2, -0.3, 0.5], &[0.9, 0.1, -0.8]]),
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
            Self::Circle => rows(&[&[0.0], &[1e4], &[-1e-30]]),
            Self::Recorded(low, high) => rows(&[&[low], &[high]]),
            Self::Definite => rows(&[&[1.0, 0.9999, 1.0], &[1e-10, 0.0, 1e10]]),
            Self::Correlations => rows(&[&[0.999, 0.0, 0.0], &[0.0, 0.0, 0.0]]),
            Self::Factors => rows(&[&[0.999, 0.0, 0.0], &[0.0, 0.7, 0.7]]),
        }
    }

    /// Points outside, where the density is zero.
    pub fn outside(self) -> Vec<Vec<f64>> {
        let rows = |rows: &[&[f64]]| rows.iter().map(|row| row.to_vec()).collect();
        match self {
            Self::Line | Self::Plane | Self::Counts(1) => Vec::new(),
            Self::Circle | Self::Recorded(..) | Self::Factors => Vec::new(),
            Self::Positive => rows(&[&[-1e-30], &[-1.0], &[-1e20]]),
            Self::Interval(low, high) => rows(&[&[low - 1e-3], &[high + 1e-3], &[-1e20], &[1e20]]),
            Self::Counts(2) => rows(&[&[-1.0], &[3.0]]),
            Self::Counts(12) => rows(&[&[-1.0], &[13.0]]),
            Self::Counts(_) => rows(&[&[-1.0], &[-1000.0]]),
            Self::Simplex => rows(&[&[-0.1, 1.1, 0.0], &[-1.0, 0.0, 2.0]]),
            Self::Cells(_) => rows(&[&[-1.0, 3.0, 3.0]]),
            Self::Definite => rows(&[&[-1.0, 0.0, 1.0], &[1.0, 2.0, 1.0], &[0.0, 0.0, 1.0]]),
            Self::Correlations => rows(&[&[1.1, 0.0, 0.0], &[0.9, -0.9, 0.9]]),
        }
    }
}

//! Statistics of draws of W: the instability of the components and their distance from the sources.

use super::model::{K, Simulated};
use crate::papers::figure::{Axis, Panel, Series};

/// The sums and squares of draws of W, and their Amari distances.
#[derive(Default)]
pub struct Draws {
    count: u64,
    sums: Vec<f64>,
    squares: Vec<f64>,
    amari: Vec<f64>,
}

/// The instability of a component and the source with the largest weight.
struct Component {
    instability: f64,
    source: usize,
}

impl Draws {
    /// Returns whether there are no draws.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a draw.
    pub fn push(&mut self, w: &[f64], data: &Simulated) {
        self.count += 1;
        self.sums.resize(K * K, 0.0);
        self.squares.resize(K * K, 0.0);
        for (k, w) in w.iter().enumerate() {
            self.sums[k] += w;
            self.squares[k] += w * w;
        }
        self.amari.push(amari(&product(w, &data.mixing)));
    }

    /// Returns the components in the order of their instability Σⱼ var(Wᵢⱼ) var(xⱼ).
    fn components(&self, data: &Simulated) -> Vec<Component> {
        let (n, covariance) = (self.count as f64, data.covariance());
        let mean: Vec<f64> = self.sums.iter().map(|sum| sum / n).collect();
        let found = product(&mean, &data.mixing);
        let component = |i: usize| {
            let spread = |k: usize| self.squares[k] / n - mean[k].powi(2);
            let instability = (0..K).map(|j| spread(i * K + j) * covariance[j * (K + 1)]).sum();
            let source = (0..K).max_by(|a, b| found[i * K + a].abs().total_cmp(&found[i * K + b].abs())).unwrap_or(0);
            Component { instability, source }
        };
        let mut components: Vec<Component> = (0..K).map(component).collect();
        components.sort_by(|a, b| a.instability.total_cmp(&b.instability));
        components
    }

    /// Prints the components. Returns whether the three most stable ones are the sources of high kurtosis.
    pub fn report(&self, name: &str, data: &Simulated) -> bool {
        let components = self.components(data);
        let mean = self.amari.iter().sum::<f64>() / self.count as f64;
        println!("{name}: {} draws, mean Amari distance {mean:.2}", self.count);
        for Component { instability, source } in &components {
            let kind = if *source < 3 { "high kurtosis" } else { "normal" };
            println!("  instability {instability:>9.5}, mostly source {source} ({kind})");
        }
        let mut stable: Vec<usize> = components[..3].iter().map(|component| component.source).collect();
        stable.sort_unstable();
        stable == [0, 1, 2]
    }

    /// Returns the panels of figure 4: the Amari distances of the draws, and the instabilities.
    pub fn panels(&self, name: &str, data: &Simulated) -> [Panel; 2] {
        let axis = |label, log| Axis { label, log };
        let series = |points| vec![Series { name: String::new(), color: 0, dots: false, points }];
        let distances = self.amari.iter().enumerate().map(|(k, amari)| (k as f64, *amari)).collect();
        let components = self.components(data);
        let sizes =
            components.iter().enumerate().map(|(k, component)| ((k + 1) as f64, component.instability)).collect();
        [
            Panel {
                title: name.into(),
                x: axis("draw", false),
                y: axis("Amari distance", false),
                series: series(distances),
            },
            Panel {
                title: name.into(),
                x: axis("component", false),
                y: axis("instability", true),
                series: series(sizes),
            },
        ]
    }
}

/// Returns the matrix product.
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..K * K).map(|k| (0..K).map(|l| a[k / K * K + l] * b[l * K + k % K]).sum()).collect()
}

/// Returns the Amari distance of W A from a scaled permutation matrix; zero if all sources are separated.
fn amari(p: &[f64]) -> f64 {
    let excess = |entry: &dyn Fn(usize, usize) -> f64| {
        (0..K)
            .map(|i| {
                let largest = (0..K).map(|j| entry(i, j).abs()).fold(0.0, f64::max);
                (0..K).map(|j| entry(i, j).abs()).sum::<f64>() / largest - 1.0
            })
            .sum::<f64>()
    };
    excess(&|i, j| p[i * K + j]) + excess(&|i, j| p[j * K + i])
}

//! The laws of draws of W given H, whose posterior is normal.

use super::*;

/// A matrix X = W Hᵀ + noise of 8 × 8 entries, with given H, so that the posterior of W is normal.
struct Conjugate {
    entries: Entries,
    columns: Vec<f64>,
}

const SIDE: usize = 8;

impl Conjugate {
    fn new() -> Self {
        let columns: Vec<f64> = normals(2 * SIDE, 1).iter().map(|x| 0.6 * x).collect();
        let (rows, noise) = (normals(2 * SIDE, 2), normals(SIDE * SIDE, 3));
        let value = |(index, noise): (usize, &f64)| {
            let (i, j) = (2 * (index / SIDE), 2 * (index % SIDE));
            block::dot(&rows[i..i + 2], &columns[j..j + 2]) + noise
        };
        let values: Vec<f64> = noise.iter().enumerate().map(value).collect();
        Self { entries: Entries::dense(SIDE, SIDE, &values).unwrap(), columns }
    }

    /// Returns I + c Hᵀ H and c Hᵀ x of row `row` over the columns that `chosen` selects.
    fn normal_equations(&self, row: usize, c: f64, chosen: impl Fn(usize) -> bool) -> ([f64; 4], [f64; 2]) {
        let (mut matrix, mut vector) = ([1.0, 0.0, 0.0, 1.0], [0.0; 2]);
        for column in (0..SIDE).filter(|column| chosen(*column)) {
            let h = [self.columns[2 * column], self.columns[2 * column + 1]];
            let x = self.entries.values()[row * SIDE + column];
            for a in 0..2 {
                vector[a] += c * h[a] * x;
                (0..2).for_each(|b| matrix[2 * a + b] += c * h[a] * h[b]);
            }
        }
        (matrix, vector)
    }

    /// Returns posterior means and the standard deviations of SGLD with step size `h` on the parts of `grid`; for h = 0 those of the
    /// posterior.
    fn law(&self, grid: &Grid, h: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut means, mut sds) = (Vec::new(), Vec::new());
        for row in 0..SIDE {
            let (a, b) = self.normal_equations(row, 1.0, |_| true);
            let determinant = a[0] * a[3] - a[1] * a[2];
            let mean = [(a[3] * b[0] - a[1] * b[1]) / determinant, (a[0] * b[1] - a[2] * b[0]) / determinant];
            let mut covariance = [a[3] / determinant, -a[1] / determinant, -a[2] / determinant, a[0] / determinant];
            // The fixed point of Σ = E (I − h/2 A) Σ (I − h/2 A)ᵀ + h²/4 E r rᵀ + h I over the parts.
            let iterations = if h > 0.0 { 4000 } else { 0 };
            for _ in 0..iterations {
                let mut next = [h, 0.0, 0.0, h];
                for part in 0..grid.blocks() {
                    let block = (grid.rows().place(row).block + part) % grid.blocks();
                    let chosen = |column: usize| grid.columns().place(column).block == block;
                    let (a, b) = self.normal_equations(row, grid.blocks() as f64, chosen);
                    let f = [1.0 - 0.5 * h * a[0], -0.5 * h * a[1], -0.5 * h * a[2], 1.0 - 0.5 * h * a[3]];
                    let r = [0, 1].map(|k| 0.5 * h * (b[k] - a[2 * k] * mean[0] - a[2 * k + 1] * mean[1]));
                    for i in 0..2 {
                        for j in 0..2 {
                            let mut moved = r[i] * r[j];
                            for k in 0..2 {
                                (0..2).for_each(|l| moved += f[2 * i + k] * covariance[2 * k + l] * f[2 * j + l]);
                            }
                            next[2 * i + j] += moved / grid.blocks() as f64;
                        }
                    }
                }
                covariance = next;
            }
            means.extend(mean);
            sds.extend([covariance[0].sqrt(), covariance[3].sqrt()]);
        }
        (means, sds)
    }

    fn sample(&self, ranks: usize, algorithm: BlockAlgorithm, h: f64, run: BlockRun) -> Fit {
        let model = BlockedFactorization::new(2).algorithm(algorithm).step_size(h).seed(2);
        sample(ranks, &model.fix_columns(self.columns.clone()), &self.entries, run)
    }
}

#[test]
fn sgld_has_its_exact_law_on_a_conjugate_model() {
    let (problem, h) = (Conjugate::new(), 0.08);
    let (means, sds) = problem.law(&Grid::new(SIDE, SIDE, 4, 5).unwrap(), h);
    let fit = problem.sample(1, BlockAlgorithm::Sgld, h, BlockRun { draws: 8000, burn_in: 500, thin: 8 });
    check_moments(&fit, &means, &sds);
    // The step size is large enough for its bias to be seen.
    let (_, posterior) = problem.law(&Grid::new(SIDE, SIDE, 4, 5).unwrap(), 0.0);
    assert!(sds.iter().zip(&posterior).all(|(sd, posterior)| *sd > 1.02 * posterior));
}

#[test]
fn all_algorithms_give_the_posterior_of_a_conjugate_model() {
    let problem = Conjugate::new();
    let (means, sds) = problem.law(&Grid::new(SIDE, SIDE, 4, 5).unwrap(), 0.0);
    // Steps are short, because the noise of the parts adds a bias of order h.
    for (algorithm, h) in [(BlockAlgorithm::Sgld, 0.002), (PSGLD, 0.002), (HAMCMC, 0.008)] {
        for ranks in [1, 2, 4] {
            let fit = problem.sample(ranks, algorithm, h, BlockRun { draws: 1500, burn_in: 5000, thin: 200 });
            check_moments(&fit, &means, &sds);
        }
    }
}

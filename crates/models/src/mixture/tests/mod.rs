//! Tests of mixtures against exact answers.

mod concentration;
mod exact;
mod families;
mod minibatches;
mod partitions;
mod runs;
mod summaries;

use super::{Categorical, Counts, Gaussian, Levels, Multinomial, NormalInverseWishart, Points};

/// Six observations of three categories, with several plausible partitions.
fn counts() -> Counts {
    let rows = [[3, 1, 0], [2, 0, 0], [0, 3, 1], [1, 2, 0], [0, 0, 3], [1, 0, 2]];
    Counts::new(3, rows.map(|row| row.into_iter().enumerate().collect::<Vec<_>>())).unwrap()
}

fn multinomial() -> Multinomial {
    Multinomial::new(vec![0.5, 0.7, 0.4]).unwrap()
}

fn levels() -> Levels {
    Levels::new(vec![2, 3, 2], vec![0, 0, 0, 0, 0, 1, 1, 2, 1, 1, 2, 0, 0, 1, 1, 1, 1, 1]).unwrap()
}

fn categorical() -> Categorical {
    Categorical::symmetric(&[2, 3, 2], 0.6).unwrap()
}

fn points() -> Points {
    Points::new(vec![-1.2, 0.3, -0.8, -0.4, 1.0, 0.9, 1.6, 0.2, 0.1, 2.2, 0.4, -1.9], 2).unwrap()
}

fn prior() -> NormalInverseWishart {
    NormalInverseWishart {
        mean: vec![0.2, -0.1],
        strength: 0.3,
        degrees_of_freedom: 4.5,
        scale: vec![1.0, 0.2, 0.2, 0.8],
    }
}

fn gaussian() -> Gaussian {
    Gaussian::new(prior()).unwrap()
}

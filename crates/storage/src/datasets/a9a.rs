//! Incomes of people, with binary features.

use std::path::Path;

use sgmcmc_core::Dataset;
use sgmcmc_core::data::{Column, Values};

use super::synthetic::{Categories, bernoulli, check_size, generator, normals};
use super::trees::Labelled;
use super::{Origin, assemble};
use crate::error::{Error, Place, Problem, Result};
use crate::read;

const ORIGIN: Origin = Origin {
    name: "a9a",
    folder: "a9a",
    from: "the LIBSVM data collection, binary classification, “a9a” (files a9a and a9a.t)",
    synthetic: "datasets::a9a_like",
};

const FEATURES: usize = 123;
/// The features are the levels of these 14 attributes, of which each person has one each.
const LEVELS: [usize; 14] = [5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41];

/// Features of people from a census, and whether their income is above a threshold (y = 1) or not (y = 0).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct A9a {
    /// 32 561 observations of 123 features, 7841 with y = 1.
    pub train: Dataset<Labelled>,
    /// 16 281 observations of 123 features, 3846 with y = 1.
    pub test: Dataset<Labelled>,
}

/// Reads `dir/a9a/a9a` and `dir/a9a/a9a.t`.
///
/// # Errors
///
/// If a file is not there or is damaged.
pub fn a9a(dir: impl AsRef<Path>) -> Result<A9a> {
    let part = |name| {
        let file = ORIGIN.file(dir.as_ref(), name)?;
        let data = read::libsvm(&file).columns(FEATURES).dense().read()?;
        let mut columns = data.columns().to_vec();
        let labels = match columns.pop().as_ref().map(Column::values) {
            Some(Values::F32(labels)) => labels.to_vec(),
            _ => Vec::new(),
        };
        if let Some(row) = labels.iter().position(|label| label.abs().total_cmp(&1.0).is_ne()) {
            let problem =
                Problem::OutOfRange { what: "label", value: labels[row].to_string(), range: "-1 or +1".into() };
            return Err(Error::at(&file, Place::row(row as u64).column("label"), problem));
        }
        let y: Vec<f32> = labels.into_iter().map(|label| 0.5 + 0.5 * label).collect();
        columns.push(Column::new("y", y, []).map_err(Error::content(&file))?);
        assemble(columns, &Labelled::template()?, &file)
    };
    Ok(A9a { train: part("a9a")?, test: part("a9a.t")? })
}

/// `n` training and ⌈n/2⌉ test observations with the columns of [`a9a`]. Labels follow a logistic regression.
///
/// # Errors
///
/// If `n` is 0.
pub fn a9a_like(n: usize, seed: u64) -> Result<A9a> {
    check_size(n, 1..=usize::MAX, "use at least 1")?;
    let mut rng = generator(seed);
    let beta = normals(FEATURES, 0.7, &mut rng);
    let levels = LEVELS.map(Categories::popular);
    let mut part = |n: usize| {
        let (mut x, mut y) = (vec![0.0_f32; n * FEATURES], Vec::with_capacity(n));
        for row in x.chunks_exact_mut(FEATURES) {
            let (mut start, mut logit) = (0, -1.5);
            for (attribute, size) in levels.iter().zip(LEVELS) {
                let feature = start + attribute.draw(&mut rng);
                row[feature] = 1.0;
                logit += beta[feature];
                start += size;
            }
            y.push(if bernoulli(logit, &mut rng) { 1.0_f32 } else { 0.0 });
        }
        let columns = vec![Column::new("x", x, [FEATURES])?, Column::new("y", y, [])?];
        Ok::<_, Error>(Dataset::from_columns(columns)?.typed(&Labelled::template()?)?)
    };
    Ok(A9a { train: part(n)?, test: part(n.div_ceil(2))? })
}

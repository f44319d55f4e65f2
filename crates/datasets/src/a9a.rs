//! The data set a9a: incomes of people, with binary features.

use std::path::Path;

use sgmcmc_core::Dataset;
use sgmcmc_gradient::data::{Column, Values};

use super::synthetic::{Categories, bernoulli, check_size, generator, normals};
use super::trees::Labeled;
use super::{Origin, assemble};
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::read;

const ORIGIN: Origin = Origin {
    name: "a9a",
    folder: "a9a",
    from: "the LIBSVM data collection, binary classification, “a9a” (files a9a and a9a.t)",
    synthetic: "datasets::a9a_like",
};

/// The number of features.
const FEATURES: usize = 123;
/// The numbers of levels of the 14 categorical attributes that the features encode. Each person has one level of each.
const LEVELS: [usize; 14] = [5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41];

/// The data set a9a: people of a census, with y = 1 for an income above a threshold and y = 0 otherwise.
///
/// # Examples
///
/// ```
/// let a9a = sgmcmc::datasets::a9a_like(20, 1)?;
/// assert_eq!(a9a.train.observations(), 20);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct A9a {
    /// 32 561 observations of 123 features, 7841 with y = 1.
    pub train: Dataset<Labeled>,
    /// 16 281 observations of 123 features, 3846 with y = 1.
    pub test: Dataset<Labeled>,
}

/// Reads the data set a9a from `dir/a9a/a9a` and `dir/a9a/a9a.t`.
///
/// # Errors
///
/// Returns an error if a file does not exist or is damaged.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets;
///
/// let error = datasets::a9a("missing").unwrap_err();
/// assert!(error.to_string().contains("datasets::a9a_like"));
/// ```
pub fn a9a(dir: impl AsRef<Path>) -> Result<A9a> {
    let part = |name| {
        let file = ORIGIN.file(dir.as_ref(), name)?;
        let data = read::libsvm(&file).columns(FEATURES).dense().read()?;
        let mut columns = data.into_vec();
        let labels = match columns.pop().as_ref().map(Column::values) {
            Some(Values::F32(labels)) => labels.to_vec(),
            _ => Vec::new(),
        };
        if let Some(row) = labels.iter().position(|label| label.abs().total_cmp(&1.0).is_ne()) {
            let problem =
                Problem::OutOfRange { what: "label", value: labels[row].to_string(), range: "-1 or +1".into() };
            return Err(Error::at_position(&file, FilePosition::row(row as u64).column("label"), problem));
        }
        let y: Vec<f32> = labels.into_iter().map(|label| 0.5 + 0.5 * label).collect();
        columns.push(Column::new("y", y, []).map_err(Error::content(&file))?);
        assemble(columns, &Labeled::template()?, &file)
    };
    Ok(A9a { train: part("a9a")?, test: part("a9a.t")? })
}

/// Simulates `n` training and ⌈n/2⌉ test observations with the columns of [`a9a`], from a logistic regression.
///
/// # Errors
///
/// Returns an error if `n` is 0.
///
/// # Examples
///
/// ```
/// let a9a = sgmcmc::datasets::a9a_like(20, 1)?;
/// assert_eq!((a9a.train.observations(), a9a.test.observations()), (20, 10));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
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
        Ok::<_, Error>(Dataset::from_columns(columns)?.typed(&Labeled::template()?)?)
    };
    Ok(A9a { train: part(n)?, test: part(n.div_ceil(2))? })
}

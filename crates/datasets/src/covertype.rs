//! The data set Covertype: forest cover types.

use std::path::Path;

use rand::RngExt;
use sgmcmc_core::Dataset;
use sgmcmc_gradient::data::{Column, Values};

use super::synthetic::{Categories, check_size, generator, normal, normals, softmax_draw};
use super::trees::{Classified, Labeled};
use super::{Origin, assemble};
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::read;

const ORIGIN: Origin = Origin {
    name: "covertype",
    folder: "covtype",
    from: "the UCI Machine Learning Repository, “Covertype” (covtype.data)",
    synthetic: "datasets::covertype_like",
};

/// The name of the file.
const FILE: &str = "covtype.data";
/// The number of features.
const FEATURES: usize = 54;
/// The number of classes.
const CLASSES: i64 = 7;
/// The smallest and the largest value of the ten numerical features.
const RANGES: [(f64, f64); 10] = [
    (1859.0, 3858.0),
    (0.0, 360.0),
    (0.0, 66.0),
    (0.0, 1397.0),
    (-173.0, 601.0),
    (0.0, 7117.0),
    (0.0, 254.0),
    (0.0, 254.0),
    (0.0, 254.0),
    (0.0, 7173.0),
];
/// The number of wilderness areas.
const WILDERNESS: usize = 4;
/// The number of soil types.
const SOILS: usize = 40;

/// The data set Covertype: 581 012 patches of forest of 30 m × 30 m.
///
/// # Examples
///
/// ```
/// let covertype = sgmcmc::datasets::covertype_like(20, 1)?;
/// assert_eq!(covertype.data.observations(), 20);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Covertype {
    /// 54 features (10 numerical ones, then indicators of 4 wilderness areas and 40 soil types) and 7 classes, 0 to 6.
    pub data: Dataset<Classified>,
}

impl Covertype {
    /// Returns the binary classification problem: y = 1 for the second class, lodgepole pine (283 301 of the 581 012
    /// observations), and y = 0 for the others.
    ///
    /// # Errors
    ///
    /// Returns an error if the data set does not have two columns, which the functions of this module exclude.
    ///
    /// # Examples
    ///
    /// ```
    /// let covertype = sgmcmc::datasets::covertype_like(20, 1)?;
    /// assert_eq!(covertype.binary()?.observations(), 20);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn binary(&self) -> Result<Dataset<Labeled>> {
        let [x, class] = self.data.columns() else {
            return Err(sgmcmc_gradient::Error::EmptyDataset { reason: "two leaves are needed".into() }.into());
        };
        let y: Vec<f32> = match class.values() {
            Values::I64(classes) => classes.iter().map(|class| if *class == 1 { 1.0 } else { 0.0 }).collect(),
            _ => Vec::new(),
        };
        let columns = vec![x.clone(), Column::new("y", y, [])?];
        Ok(Dataset::from_columns(columns)?.typed(&Labeled::template()?)?)
    }
}

/// Reads the data set Covertype from `dir/covtype/covtype.data`.
///
/// # Errors
///
/// Returns an error if the file does not exist or is damaged.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets;
///
/// let error = datasets::covertype("missing").unwrap_err();
/// assert!(error.to_string().contains("datasets::covertype_like"));
/// ```
pub fn covertype(dir: impl AsRef<Path>) -> Result<Covertype> {
    let file = ORIGIN.file(dir.as_ref(), FILE)?;
    let table = read::csv(&file).no_header().float("x", 0..FEATURES).int("class", FEATURES).read()?;
    let mut columns = table.into_vec();
    let classes = match columns.pop().as_ref().map(Column::values) {
        Some(Values::I64(classes)) => classes.to_vec(),
        _ => Vec::new(),
    };
    if let Some(row) = classes.iter().position(|class| !(1..=CLASSES).contains(class)) {
        let range = format!("classes are 1 to {CLASSES}");
        let problem = Problem::OutOfRange { what: "class", value: classes[row].to_string(), range };
        return Err(Error::at_position(&file, FilePosition::row(row as u64).column(FEATURES.to_string()), problem));
    }
    let classes: Vec<i64> = classes.into_iter().map(|class| class - 1).collect();
    columns.push(Column::new("class", classes, []).map_err(Error::content(&file))?);
    Ok(Covertype { data: assemble(columns, &Classified::template()?, &file)? })
}

/// Simulates `n` observations with the columns of [`covertype`], from a softmax regression on the scaled features.
///
/// # Errors
///
/// Returns an error if `n` is 0.
///
/// # Examples
///
/// ```
/// let covertype = sgmcmc::datasets::covertype_like(20, 1)?;
/// assert_eq!(covertype.data.observations(), 20);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn covertype_like(n: usize, seed: u64) -> Result<Covertype> {
    check_size(n, 1..=usize::MAX, "use at least 1")?;
    let mut rng = generator(seed);
    let classes = CLASSES as usize;
    let weights = normals(classes * FEATURES, 1.0, &mut rng);
    let intercepts = [2.0, 2.3, 0.2, -2.4, -1.1, -0.5, -0.4];
    let soils = Categories::popular(SOILS);
    let areas = Categories::new([0.45, 0.05, 0.44, 0.06]);
    let (mut x, mut class) = (Vec::with_capacity(n * FEATURES), Vec::with_capacity(n));
    for _ in 0..n {
        let mut unit = [0.0; FEATURES];
        for feature in &mut unit[..RANGES.len()] {
            *feature = (0.5 + 0.18 * normal(&mut rng)).clamp(0.0, 1.0);
        }
        unit[1] = rng.random();
        unit[RANGES.len() + areas.draw(&mut rng)] = 1.0;
        unit[RANGES.len() + WILDERNESS + soils.draw(&mut rng)] = 1.0;
        let score = |weights: &[f64]| weights.iter().zip(&unit).map(|(weight, x)| weight * x).sum::<f64>();
        let scores: Vec<f64> =
            weights.chunks_exact(FEATURES).zip(intercepts).map(|(weights, start)| start + score(weights)).collect();
        class.push(softmax_draw(&scores, &mut rng) as i64);
        x.extend(unit.iter().enumerate().map(|(feature, unit)| match RANGES.get(feature) {
            Some((low, high)) => (low + unit * (high - low)).round() as f32,
            None => *unit as f32,
        }));
    }
    let columns = vec![Column::new("x", x, [FEATURES])?, Column::new("class", class, [])?];
    Ok(Covertype { data: Dataset::from_columns(columns)?.typed(&Classified::template()?)? })
}

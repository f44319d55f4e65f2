//! The data set MNIST: handwritten digits.

use std::path::Path;

use rand::RngExt;
use sgmcmc_core::Dataset;
use sgmcmc_gradient::data::Column;

use super::synthetic::{check_size, generator, normal};
use super::trees::Classified;
use super::{Origin, assemble};
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::read::idx_bytes;

const ORIGIN: Origin = Origin {
    name: "MNIST",
    folder: "mnist",
    from: "the MNIST database of handwritten digits by LeCun, Cortes and Burges (four idx files)",
    synthetic: "datasets::mnist_like",
};

/// The width and the height of an image.
const SIDE: usize = 28;
/// The number of pixels of an image.
const PIXELS: usize = SIDE * SIDE;
/// The number of classes.
const DIGITS: usize = 10;

/// The data set MNIST: images with 784 pixels from 0 to 1 in row-major order, and the digit as `class`.
///
/// # Examples
///
/// ```
/// let mnist = sgmcmc::datasets::mnist_like(6, 1)?;
/// assert_eq!((mnist.train.observations(), mnist.test.observations()), (6, 1));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mnist {
    /// 60 000 observations.
    pub train: Dataset<Classified>,
    /// 10 000 observations.
    pub test: Dataset<Classified>,
}

/// Reads the data set MNIST from the four files `dir/mnist/{train,t10k}-{images-idx3,labels-idx1}-ubyte`.
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
/// let error = datasets::mnist("missing").unwrap_err();
/// assert!(error.to_string().contains("datasets::mnist_like"));
/// ```
pub fn mnist(dir: impl AsRef<Path>) -> Result<Mnist> {
    let part = |name: &str| {
        let images = ORIGIN.file(dir.as_ref(), &format!("{name}-images-idx3-ubyte"))?;
        let labels = ORIGIN.file(dir.as_ref(), &format!("{name}-labels-idx1-ubyte"))?;
        let (pixels, shape) = idx_bytes(&images)?;
        if shape[1..] != [SIDE as u64; 2] {
            let detail = format!("dimensions {shape:?} where [n, 28, 28] is expected");
            return Err(Error::file(&images, Problem::Corrupt { detail }));
        }
        let (digits, shape) = idx_bytes(&labels)?;
        if shape.len() != 1 {
            let detail = format!("dimensions {shape:?} where [n] is expected");
            return Err(Error::file(&labels, Problem::Corrupt { detail }));
        }
        if let Some(row) = digits.iter().position(|digit| usize::from(*digit) >= DIGITS) {
            let range = "digits are 0 to 9".into();
            let problem = Problem::OutOfRange { what: "label", value: digits[row].to_string(), range };
            return Err(Error::at_position(&labels, FilePosition::row(row as u64), problem));
        }
        let x: Vec<f32> = pixels.iter().map(|pixel| f32::from(*pixel) / 255.0).collect();
        let class: Vec<i64> = digits.into_iter().map(i64::from).collect();
        let columns = [Column::new("x", x, [PIXELS]), Column::new("class", class, [])];
        let columns = columns.into_iter().collect::<sgmcmc_gradient::Result<_>>().map_err(Error::content(&images))?;
        assemble(columns, &Classified::template()?, &images)
    };
    Ok(Mnist { train: part("train")?, test: part("t10k")? })
}

/// Simulates `n` training and ⌈n/6⌉ test images with the columns of [`mnist`].
///
/// Each digit is a shape of three random strokes, which is translated by up to two pixels and has noise on the ink.
///
/// # Errors
///
/// Returns an error if `n` is 0.
///
/// # Examples
///
/// ```
/// let mnist = sgmcmc::datasets::mnist_like(6, 1)?;
/// assert_eq!((mnist.train.observations(), mnist.test.observations()), (6, 1));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn mnist_like(n: usize, seed: u64) -> Result<Mnist> {
    check_size(n, 1..=usize::MAX, "use at least 1")?;
    let mut rng = generator(seed);
    let strokes: Vec<[[f64; 4]; 3]> =
        (0..DIGITS).map(|_| std::array::from_fn(|_| std::array::from_fn(|_| rng.random_range(6.0..22.0)))).collect();
    let mut part = |n: usize| {
        let (mut x, mut class) = (Vec::with_capacity(n * PIXELS), Vec::with_capacity(n));
        for _ in 0..n {
            let digit = rng.random_range(0..DIGITS);
            let (down, right) = (rng.random_range(-2.0..2.0), rng.random_range(-2.0..2.0));
            for pixel in 0..PIXELS {
                let point = [(pixel / SIDE) as f64 - down, (pixel % SIDE) as f64 - right];
                let distance =
                    strokes[digit].iter().map(|stroke| distance_to_stroke(point, stroke)).fold(f64::MAX, f64::min);
                let ink = (1.6 - distance / 1.5).clamp(0.0, 1.0);
                let ink = if ink > 0.0 { (ink + 0.1 * normal(&mut rng)).clamp(0.0, 1.0) } else { 0.0 };
                x.push(((ink * 255.0).round() / 255.0) as f32);
            }
            class.push(digit as i64);
        }
        let columns = vec![Column::new("x", x, [PIXELS])?, Column::new("class", class, [])?];
        Ok::<_, Error>(Dataset::from_columns(columns)?.typed(&Classified::template()?)?)
    };
    Ok(Mnist { train: part(n)?, test: part(n.div_ceil(6))? })
}

/// Returns the distance of a point from the line segment between (a, b) and (c, d).
fn distance_to_stroke([y, x]: [f64; 2], [a, b, c, d]: &[f64; 4]) -> f64 {
    let (along_y, along_x) = (c - a, d - b);
    let length = (along_y * along_y + along_x * along_x).max(1e-9);
    let fraction = (((y - a) * along_y + (x - b) * along_x) / length).clamp(0.0, 1.0);
    (y - a - fraction * along_y).hypot(x - b - fraction * along_x)
}

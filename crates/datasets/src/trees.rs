//! The types of the observations, which are the arguments of model closures.

use sgmcmc_core::burn::{Int, Tensor};
use sgmcmc_core::{array, zeros};
use sgmcmc_derive::TensorTree;
use sgmcmc_gradient::Result;

/// Features and a label of 0 or 1.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets::Labeled;
/// use sgmcmc::prelude::*;
///
/// let data: Dataset<Labeled> = sgmcmc::datasets::a9a_like(4, 1)?.train;
/// let names: Vec<&str> = data.columns().iter().map(|column| column.name()).collect();
/// assert_eq!(names, ["x", "y"]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, TensorTree)]
#[tree(crate = sgmcmc_core)]
pub struct Labeled {
    /// Features, `[n, d]`.
    pub x: Tensor<2>,
    /// Labels, `[n]`.
    pub y: Tensor<1>,
}

impl Labeled {
    /// Returns a tree of this structure, to give a data set its type.
    pub(super) fn template() -> Result<Self> {
        Ok(Self { x: zeros([1, 1]), y: zeros([1]) })
    }
}

/// Features and a class.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets::Classified;
/// use sgmcmc::prelude::*;
///
/// let data: Dataset<Classified> = sgmcmc::datasets::covertype_like(4, 1)?.data;
/// let names: Vec<&str> = data.columns().iter().map(|column| column.name()).collect();
/// assert_eq!(names, ["x", "class"]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, TensorTree)]
#[tree(crate = sgmcmc_core)]
pub struct Classified {
    /// Features, `[n, d]`.
    pub x: Tensor<2>,
    /// Classes counting from 0, `[n]`.
    pub class: Tensor<1, Int>,
}

impl Classified {
    /// Returns a tree of this structure, to give a data set its type.
    pub(super) fn template() -> Result<Self> {
        Ok(Self { x: zeros([1, 1]), class: array(vec![0_i64], [1])? })
    }
}

/// Ratings of items by users.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets::Ratings;
/// use sgmcmc::prelude::*;
///
/// let data: Dataset<Ratings> = sgmcmc::datasets::ml_100k_like(4, 1)?.ratings;
/// let names: Vec<&str> = data.columns().iter().map(|column| column.name()).collect();
/// assert_eq!(names, ["user", "item", "rating"]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, TensorTree)]
#[tree(crate = sgmcmc_core)]
pub struct Ratings {
    /// Users counting from 0, `[n]`.
    pub user: Tensor<1, Int>,
    /// Items counting from 0, `[n]`.
    pub item: Tensor<1, Int>,
    /// Ratings from 1 to 5, `[n]`.
    pub rating: Tensor<1>,
}

impl Ratings {
    /// Returns a tree of this structure, to give a data set its type.
    pub(super) fn template() -> Result<Self> {
        Ok(Self { user: array(vec![0_i64], [1])?, item: array(vec![0_i64], [1])?, rating: zeros([1]) })
    }
}

/// Visits of the areas of a web site.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets::Visits;
/// use sgmcmc::prelude::*;
///
/// let data: Dataset<Visits> = sgmcmc::datasets::msweb_like(4, 1)?.train;
/// let names: Vec<&str> = data.columns().iter().map(|column| column.name()).collect();
/// assert_eq!(names, ["visited"]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, TensorTree)]
#[tree(crate = sgmcmc_core)]
pub struct Visits {
    /// 1 if a user visited an area and 0 otherwise, `[n, areas]`.
    pub visited: Tensor<2>,
}

impl Visits {
    /// Returns a tree of this structure, to give a data set its type.
    pub(super) fn template() -> Result<Self> {
        Ok(Self { visited: zeros([1, 1]) })
    }
}

/// Documents as bags of words. Short documents are padded by word 0 with count 0.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets::Documents;
/// use sgmcmc::prelude::*;
///
/// let data: Dataset<Documents> = sgmcmc::datasets::kos_like(4, 1)?.documents;
/// let names: Vec<&str> = data.columns().iter().map(|column| column.name()).collect();
/// assert_eq!(names, ["word", "count"]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, TensorTree)]
#[tree(crate = sgmcmc_core)]
pub struct Documents {
    /// The distinct words of each document, counting from 0, `[n, longest]`.
    pub word: Tensor<2, Int>,
    /// The number of occurrences of each word, `[n, longest]`.
    pub count: Tensor<2>,
}

impl Documents {
    /// Returns a tree of this structure, to give a data set its type.
    pub(super) fn template() -> Result<Self> {
        Ok(Self { word: array(vec![0_i64], [1, 1])?, count: zeros([1, 1]) })
    }
}

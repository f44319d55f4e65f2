//! Priors that are declared beside the fields of a tree: constraints from their supports, log densities, and draws.
//!
//! `#[derive(TensorTree)]` calls these functions for the attribute `#[tree(prior = …)]`.

use std::fmt;

use burn_tensor::{Bool, DType, Int, Tensor, TensorData};
use rand::Rng;
use sgmcmc_gradient::{Constraint, Error, Layout};

use super::{Path, Source, TensorTree, TreeLayout, Visitor};
use crate::array::default_device;
use crate::distributions::{Domain, Generative};

/// The largest number of attempts to draw a value that satisfies its constraint.
const ATTEMPTS: usize = 10_000;

/// Visits a field with a prior. Its constraint is `explicit`, or that of the support of the prior.
pub fn within_prior<Y, G: Generative<Y>>(
    path: &mut Path,
    name: impl fmt::Display,
    explicit: Option<Constraint>,
    prior: impl FnOnce() -> G,
    inner: impl FnOnce(&Y, &mut Path),
    field: &Y,
) {
    let constraint = if path.is_described() { constraint(path, &name, explicit, prior().domain()) } else { explicit };
    match constraint {
        Some(constraint) => path.within_constrained(name, constraint, |path| inner(field, path)),
        None => path.within(name, |path| inner(field, path)),
    }
}

/// Returns the constraint of a field whose prior has the values `domain`. Reports a contradiction to `path`.
fn constraint(
    path: &mut Path,
    name: &impl fmt::Display,
    explicit: Option<Constraint>,
    domain: Domain,
) -> Option<Constraint> {
    let reason = match (domain, explicit) {
        (Domain::Discrete, _) => {
            "its values are integers, and parameters are real: sum over its values in the likelihood \
             (see `Mixture`), or use a continuous distribution"
                .to_owned()
        }
        (Domain::Dependent, None) => {
            "its bounds are tensors, and a constraint needs numbers: give a share the prior `Uniform::new(0.0, 1.0)` and \
             compute the value `low + (high - low) * share`, or use `between` of `sgmcmc::functions`"
                .to_owned()
        }
        (Domain::PositiveDefinite, _) => {
            "its values are positive definite matrices, for which there is no constraint: use `LkjCholesky` for the factor \
             of a correlation matrix, and a positive parameter for the standard deviations"
                .to_owned()
        }
        (domain, Some(constraint)) if !domain.contains(constraint) => {
            format!(
                "its values are {}, but the field must be {constraint}: remove the constraint, which the prior implies, \
                 or choose another prior",
                domain.describe()
            )
        }
        (domain, explicit) => return explicit.or_else(|| domain.constraint()),
    };
    let mut parameter = String::new();
    path.within(name, |path| parameter = path.to_string());
    path.report(Error::Prior { parameter, reason });
    explicit
}

/// Returns the log density of a field under its prior.
pub fn term<Y, G: Generative<Y>>(prior: &G, field: Y) -> Tensor<1> {
    prior.rows(field).sum()
}

/// Returns the sum of the terms that exist.
pub fn sum(a: Option<Tensor<1>>, b: Option<Tensor<1>>) -> Option<Tensor<1>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// Clones a tree.
pub fn copy<T: TensorTree>(tree: &T) -> T {
    tree.rebuild(&mut Copies)
}

/// Returns a tree with the shapes of `tree` in which every float is NaN, for fields that have not been drawn.
pub fn undrawn<T: TensorTree>(tree: &T) -> T {
    tree.rebuild(&mut Undrawn)
}

/// Returns a tree with the shapes and constraints of `like`, in the middle of its constraints.
///
/// # Errors
///
/// Returns an error if a shape does not allow the constraint, or a prior is invalid.
pub fn centered<T: TensorTree>(like: &T) -> Result<T, Error> {
    let layout = Layout::from_tree(like)?;
    let mut theta = vec![0.0; layout.dim()];
    for block in layout.blocks() {
        if block.constraint == Some(Constraint::UnitVector) {
            theta[block.range.clone()].fill(1.0);
        }
    }
    layout.unflatten(like, &theta, &default_device())
}

/// The state of a draw from the priors of a tree.
pub struct PriorDraws<'a> {
    path: Path,
    rng: &'a mut dyn Rng,
    error: Option<Error>,
    /// True for each leaf that is drawn, or empty if all are.
    free: Vec<bool>,
    /// The number of leaves before the next one.
    next: usize,
}

impl fmt::Debug for PriorDraws<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PriorDraws").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<'a> PriorDraws<'a> {
    /// Creates the state with the generator `rng`.
    pub(crate) fn new(rng: &'a mut dyn Rng) -> Self {
        Self { path: Path::root(), rng, error: None, free: Vec::new(), next: 0 }
    }

    /// Returns the first error.
    pub(crate) fn into_error(self) -> Option<Error> {
        self.error
    }

    /// Draws a member of a tree, called `name`, with `draw`.
    pub fn within<T>(&mut self, name: impl fmt::Display, draw: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.enter(name);
        let drawn = draw(self);
        self.path.leave(length);
        drawn
    }

    /// Draws the field `name` with the shape of `like` from `prior`, until it satisfies `explicit`.
    pub fn field<Y: TensorTree, G: Generative<Y>>(
        &mut self,
        name: impl fmt::Display,
        explicit: Option<Constraint>,
        prior: &G,
        like: &Y,
    ) -> Y {
        if self.error.is_some() {
            return undrawn(like);
        }
        if self.is_fixed(1) {
            return copy(like);
        }
        let length = self.path.enter(name);
        let implied = explicit.is_none() || prior.domain().constraint() == explicit;
        let drawn = match explicit.filter(|_| !implied) {
            Some(constraint) => self.constrained(constraint, prior, like),
            None => Ok(prior.draw(like, self.rng)),
        };
        let drawn = drawn.and_then(|drawn| {
            if values(&drawn).iter().all(|value| value.is_finite()) {
                return Ok(drawn);
            }
            Err("the draw is not finite: a parameter of the distribution is out of range, or belongs to a field that is \
                 declared below (declare fields in the order in which their priors use each other)"
                .to_owned())
        });
        let drawn = drawn.unwrap_or_else(|reason| {
            self.error = Some(Error::Prior { parameter: self.path.name_or("theta"), reason });
            undrawn(like)
        });
        self.path.leave(length);
        drawn
    }

    /// Sets which of the following leaves are drawn. The others keep their values.
    pub(super) fn restrict(&mut self, free: Vec<bool>) {
        self.free = free;
        self.next = 0;
    }

    /// Returns whether the next leaves keep their values, and skips them.
    fn is_fixed(&mut self, leaves: usize) -> bool {
        let range = self.next..self.next + leaves;
        self.next += leaves;
        self.free.get(range).is_some_and(|free| !free.is_empty() && free.iter().all(|free| !free))
    }

    /// Reports that a tree of this many leaves at the current path has no prior.
    pub(crate) fn missing(&mut self, leaves: usize) {
        if self.is_fixed(leaves) {
            return;
        }
        let parameter = self.path.name_or("theta");
        let reason = "it has no prior, so that it cannot be drawn: add `#[tree(prior = …)]` to the field, or a closure with \
                      `Model::prior_draws`";
        self.error.get_or_insert_with(|| Error::Prior { parameter, reason: reason.into() });
    }

    /// Draws from a prior that is restricted to the values that `constraint` allows, by rejection.
    fn constrained<Y: TensorTree, G: Generative<Y>>(
        &mut self,
        constraint: Constraint,
        prior: &G,
        like: &Y,
    ) -> Result<Y, String> {
        let shape = shape(like);
        let group = match constraint {
            Constraint::Simplex | Constraint::Softmax | Constraint::UnitVector => return Err(no_rejection(constraint)),
            Constraint::CholeskyCorrelation => return Err(no_rejection(constraint)),
            Constraint::Ordered | Constraint::PositiveOrdered => shape.last().copied().unwrap_or(1),
            _ => 1,
        };
        let layout =
            Layout::new([("x".to_owned(), vec![group], Some(constraint))]).map_err(|error| error.to_string())?;
        let count: usize = shape.iter().product();
        let mut accepted: Vec<Option<Vec<f64>>> = vec![None; count / group.max(1)];
        for _ in 0..ATTEMPTS {
            let drawn = values(&prior.draw(like, self.rng));
            for (slot, candidate) in accepted.iter_mut().zip(drawn.chunks_exact(group.max(1))) {
                if slot.is_none() && layout.coordinates(candidate).is_ok() {
                    *slot = Some(candidate.to_vec());
                }
            }
            if accepted.iter().all(Option::is_some) {
                let values: Vec<f64> = accepted.into_iter().flatten().flatten().collect();
                return Ok(like.rebuild(&mut FromValues { values: &values }));
            }
        }
        Err(format!(
            "none of {ATTEMPTS} draws was {constraint}: choose a prior with these values, or draw with `Model::prior_draws`"
        ))
    }
}

/// Returns the reason why a constrained prior cannot be drawn by rejection.
fn no_rejection(constraint: Constraint) -> String {
    format!(
        "draws of this distribution are never {constraint}: choose a distribution of such values, for example `Dirichlet` \
         for a simplex, or draw with `Model::prior_draws`"
    )
}

/// Returns the elements of all leaves.
pub(crate) fn values<T: TensorTree>(tree: &T) -> Vec<f64> {
    leaf_values(tree).concat()
}

/// Returns the elements of each leaf.
pub(crate) fn leaf_values<T: TensorTree>(tree: &T) -> Vec<Vec<f64>> {
    let mut reader = Reader(Vec::new());
    tree.visit(&mut Path::root(), &mut reader);
    reader.0.into_iter().map(|(_, values)| values).collect()
}

/// Returns the shape of the first leaf.
fn shape<T: TensorTree>(tree: &T) -> Vec<usize> {
    let mut reader = Reader(Vec::new());
    tree.visit(&mut Path::root(), &mut reader);
    reader.0.into_iter().next().map(|(shape, _)| shape).unwrap_or_default()
}

/// Reads the shape and the elements of each leaf.
struct Reader(Vec<(Vec<usize>, Vec<f64>)>);

impl Visitor for Reader {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.0.push((tensor.dims().to_vec(), tensor.to_data().iter::<f64>().collect()));
    }

    fn int<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Int>) {
        self.0.push((tensor.dims().to_vec(), tensor.to_data().iter::<f64>().collect()));
    }

    fn bool<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Bool>) {
        let values = tensor.to_data().iter::<bool>().map(|value| f64::from(u8::from(value))).collect();
        self.0.push((tensor.dims().to_vec(), values));
    }
}

/// Clones the leaves of the template.
pub(crate) struct Copies;

impl Source for Copies {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        like.clone()
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        like.clone()
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        like.clone()
    }
}

/// Creates leaves of NaN.
struct Undrawn;

impl Source for Undrawn {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        Tensor::full(like.dims(), f64::NAN, (&default_device(), DType::F64))
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        like.clone()
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        like.clone()
    }
}

/// Creates float leaves from values in order.
struct FromValues<'a> {
    values: &'a [f64],
}

impl Source for FromValues<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        let count = like.dims().iter().product::<usize>().min(self.values.len());
        let (own, rest) = self.values.split_at(count);
        self.values = rest;
        Tensor::from_data(TensorData::new(own.to_vec(), like.dims()), (&default_device(), DType::F64))
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        like.clone()
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        like.clone()
    }
}

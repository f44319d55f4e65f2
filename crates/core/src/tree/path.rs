//! Paths of leaves.

use std::fmt;

use sgmcmc_gradient::{Constraint, Error};

/// The path of a leaf: the names of the fields from the root to the leaf, joined by dots, and the constraint declared
/// for it.
///
/// # Examples
///
/// ```
/// use sgmcmc::tree::Path;
///
/// let mut path = Path::root();
/// path.within("layer", |path| path.within("weight", |path| assert_eq!(path.to_string(), "layer.weight")));
/// assert_eq!(path.name_or("theta"), "theta");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    joined: String,
    constraint: Option<Constraint>,
    /// The names of the dimensions of the leaves below, if they are declared.
    dimensions: Option<&'static [&'static str]>,
    /// True if the constraints that priors imply are determined.
    described: bool,
    /// The first contradiction between a prior and a constraint.
    problem: Option<Box<Error>>,
}

impl Path {
    /// Creates the path of the root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Creates the path of the root for a visit that determines the constraints that priors imply.
    pub(super) fn described() -> Self {
        Self { described: true, ..Self::default() }
    }

    /// Returns whether the constraints that priors imply are determined.
    pub(super) fn is_described(&self) -> bool {
        self.described
    }

    /// Stores an error. Only the first one is kept.
    pub(super) fn report(&mut self, error: Error) {
        self.problem.get_or_insert_with(|| Box::new(error));
    }

    /// Returns the first error.
    pub(super) fn into_problem(self) -> Option<Error> {
        self.problem.map(|error| *error)
    }

    /// Appends `name` and returns the length to restore with [`leave`](Self::leave).
    pub(super) fn enter(&mut self, name: impl fmt::Display) -> usize {
        let length = self.joined.len();
        if length > 0 {
            self.joined.push('.');
        }
        self.joined.push_str(&name.to_string());
        length
    }

    /// Removes the names after `length`.
    pub(super) fn leave(&mut self, length: usize) {
        self.joined.truncate(length);
    }

    /// Appends `name`, calls `inner`, and removes the name again.
    pub fn within(&mut self, name: impl fmt::Display, inner: impl FnOnce(&mut Self)) {
        let length = self.enter(name);
        inner(self);
        self.leave(length);
    }

    /// Appends `name` with a constraint that applies to the leaves below, calls `inner`, and removes both again.
    pub fn within_constrained(
        &mut self,
        name: impl fmt::Display,
        constraint: Constraint,
        inner: impl FnOnce(&mut Self),
    ) {
        let outer = self.constraint.replace(constraint);
        self.within(name, inner);
        self.constraint = outer;
    }

    /// Calls `inner` with names of the dimensions of the leaves below, and removes them again.
    pub fn with_dimensions(&mut self, names: &'static [&'static str], inner: impl FnOnce(&mut Self)) {
        let outer = self.dimensions.replace(names);
        inner(self);
        self.dimensions = outer;
    }

    /// Returns the innermost names of dimensions declared on this path.
    pub fn dimensions(&self) -> Option<&'static [&'static str]> {
        self.dimensions
    }

    /// Returns the innermost constraint declared on this path.
    pub fn constraint(&self) -> Option<Constraint> {
        self.constraint
    }

    /// Returns the joined names, or `root` if the path is that of the root.
    pub fn name_or(&self, root: &str) -> String {
        if self.joined.is_empty() { root.to_owned() } else { self.joined.clone() }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined)
    }
}

//! The place of a leaf in its tree.

use std::fmt;

use crate::constraint::Constraint;

/// The place of a leaf: the names of the fields on the way to it, joined by dots, and the constraint declared there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    joined: String,
    constraint: Option<Constraint>,
}

impl Path {
    /// The place of the tree itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Runs `inner` with `name` appended, and takes it off again.
    pub fn within(&mut self, name: impl fmt::Display, inner: impl FnOnce(&mut Self)) {
        let length = self.joined.len();
        if length > 0 {
            self.joined.push('.');
        }
        self.joined.push_str(&name.to_string());
        inner(self);
        self.joined.truncate(length);
    }

    /// As [`within`](Self::within), for leaves that are declared to be so constrained.
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

    /// The constraint declared on the way to this place.
    pub fn constraint(&self) -> Option<Constraint> {
        self.constraint
    }

    /// The joined names, or `root` where the tree is a single leaf and has no name of its own.
    pub fn name_or(&self, root: &str) -> String {
        if self.joined.is_empty() { root.to_owned() } else { self.joined.clone() }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined)
    }
}

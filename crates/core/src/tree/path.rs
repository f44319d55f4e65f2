//! The place of a leaf in its tree.

use std::fmt;

/// The place of a leaf: the names of the fields on the way to it, joined by dots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    joined: String,
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

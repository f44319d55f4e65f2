//! A tree with leaves that are named at run time.

use burn_tensor::{Bool, Int, Tensor};

use super::{Path, Source, TensorTree, Visitor};

/// Evaluates an expression with the tensor inside an [`AnyRank`], with its rank as a constant.
macro_rules! each_rank {
    ($any:expr, $tensor:ident => $body:expr) => {
        match $any {
            AnyRank::One($tensor) => $body,
            AnyRank::Two($tensor) => $body,
            AnyRank::Three($tensor) => $body,
            AnyRank::Four($tensor) => $body,
            AnyRank::Five($tensor) => $body,
            AnyRank::Six($tensor) => $body,
        }
    };
}

/// Tensors with names, in insertion order, for models whose structure is known only at run time.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let params = Named::new().with("bias", zeros([1])).with("beta", zeros([3, 2]));
/// assert_eq!(params.get::<2>("beta").dims(), [3, 2]);
/// assert_eq!(params.names().collect::<Vec<_>>(), ["bias", "beta"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Named {
    leaves: Vec<(String, Leaf)>,
}

impl Named {
    /// Creates a tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a leaf, or replaces the leaf with this name.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Named::new().with("x", zeros([3, 2])).with("label", array(vec![0_i64, 2, 1], [3])?);
    /// assert_eq!(data.get_int::<1>("label").dims(), [3]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, leaf: impl Into<Leaf>) -> Self {
        let (name, leaf) = (name.into(), leaf.into());
        match self.leaves.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = leaf,
            None => self.leaves.push((name, leaf)),
        }
        self
    }

    /// Returns the names of the leaves, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.leaves.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the float leaf `name` of rank `D`.
    ///
    /// # Panics
    ///
    /// Panics if there is no leaf with this name, or if it has another rank or kind. Inside a closure of a model the
    /// panic becomes an [`Error::ClosurePanicked`](sgmcmc_gradient::Error::ClosurePanicked) with the same message.
    #[track_caller]
    pub fn get<const D: usize>(&self, name: &str) -> Tensor<D> {
        match self.leaf(name) {
            Leaf::Float(tensor) => tensor.clone().cast(name),
            other => panic!("`{name}` is {}, not float: use `{}`", other.kind(), other.getter()),
        }
    }

    /// Returns the integer leaf `name` of rank `D`.
    ///
    /// # Panics
    ///
    /// Panics if there is no leaf with this name, or if it has another rank or kind.
    #[track_caller]
    pub fn get_int<const D: usize>(&self, name: &str) -> Tensor<D, Int> {
        match self.leaf(name) {
            Leaf::Int(tensor) => tensor.clone().cast(name),
            other => panic!("`{name}` is {}, not integer: use `{}`", other.kind(), other.getter()),
        }
    }

    /// Returns the boolean leaf `name` of rank `D`.
    ///
    /// # Panics
    ///
    /// Panics if there is no leaf with this name, or if it has another rank or kind.
    #[track_caller]
    pub fn get_bool<const D: usize>(&self, name: &str) -> Tensor<D, Bool> {
        match self.leaf(name) {
            Leaf::Bool(tensor) => tensor.clone().cast(name),
            other => panic!("`{name}` is {}, not boolean: use `{}`", other.kind(), other.getter()),
        }
    }

    #[track_caller]
    fn leaf(&self, name: &str) -> &Leaf {
        match self.leaves.iter().find(|(known, _)| known == name) {
            Some((_, leaf)) => leaf,
            None => panic!("there is no leaf `{name}`: the leaves are {:?}", self.names().collect::<Vec<_>>()),
        }
    }
}

impl TensorTree for Named {
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
        for (name, leaf) in &self.leaves {
            path.within(name, |path| match leaf {
                Leaf::Float(tensor) => each_rank!(tensor, t => visitor.float(path, t)),
                Leaf::Int(tensor) => each_rank!(tensor, t => visitor.int(path, t)),
                Leaf::Bool(tensor) => each_rank!(tensor, t => visitor.bool(path, t)),
            });
        }
    }

    fn rebuild<S: Source>(&self, source: &mut S) -> Self {
        let leaves = self.leaves.iter().map(|(name, leaf)| {
            let leaf = match leaf {
                Leaf::Float(tensor) => each_rank!(tensor, t => source.float(t).into()),
                Leaf::Int(tensor) => each_rank!(tensor, t => source.int(t).into()),
                Leaf::Bool(tensor) => each_rank!(tensor, t => source.bool(t).into()),
            };
            (name.clone(), leaf)
        });
        Self { leaves: leaves.collect() }
    }
}

/// A tensor of rank 1 to 6 and of any kind. Tensors convert to it with `into()`.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::tree::{AnyRank, Leaf};
///
/// let leaf = Leaf::from(zeros::<2>([3, 4]));
/// assert!(matches!(leaf, Leaf::Float(AnyRank::Two(_))));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Leaf {
    /// A float tensor.
    Float(AnyRank<burn_tensor::Float>),
    /// An integer tensor.
    Int(AnyRank<Int>),
    /// A boolean tensor.
    Bool(AnyRank<Bool>),
}

impl Leaf {
    /// Returns the name of the kind, for messages.
    fn kind(&self) -> &'static str {
        match self {
            Self::Float(_) => "float",
            Self::Int(_) => "integer",
            Self::Bool(_) => "boolean",
        }
    }

    /// Returns the name of the method of [`Named`] that returns a leaf of this kind.
    fn getter(&self) -> &'static str {
        match self {
            Self::Float(_) => "get",
            Self::Int(_) => "get_int",
            Self::Bool(_) => "get_bool",
        }
    }
}

/// A tensor of a rank known only at run time.
///
/// # Examples
///
/// See [`Leaf`].
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the variants are the ranks")]
pub enum AnyRank<K: burn_tensor::kind::Basic> {
    One(Tensor<1, K>),
    Two(Tensor<2, K>),
    Three(Tensor<3, K>),
    Four(Tensor<4, K>),
    Five(Tensor<5, K>),
    Six(Tensor<6, K>),
}

impl<K: burn_tensor::kind::Basic> AnyRank<K> {
    /// Returns the tensor if it has rank `D`, and panics otherwise.
    #[track_caller]
    fn cast<const D: usize>(self, name: &str) -> Tensor<D, K> {
        each_rank!(self, tensor => {
            assert!(tensor.rank() == D, "`{name}` has rank {}, requested as rank {D}", tensor.rank());
            Tensor::from_bridge(tensor.into_bridge())
        })
    }
}

macro_rules! leaf_from_tensor {
    ($kind:ident: $($rank:literal $variant:ident),+) => {
        $(impl From<Tensor<$rank, burn_tensor::$kind>> for Leaf {
            fn from(tensor: Tensor<$rank, burn_tensor::$kind>) -> Self {
                Self::$kind(AnyRank::$variant(tensor))
            }
        })+
    };
}

leaf_from_tensor!(Float: 1 One, 2 Two, 3 Three, 4 Four, 5 Five, 6 Six);
leaf_from_tensor!(Int: 1 One, 2 Two, 3 Three, 4 Four, 5 Five, 6 Six);
leaf_from_tensor!(Bool: 1 One, 2 Two, 3 Three, 4 Four, 5 Five, 6 Six);

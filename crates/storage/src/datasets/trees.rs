//! What closures see of the data sets.

use sgmcmc_core::burn::{Int, Tensor};
use sgmcmc_core::tree::{Path, Source, Visitor};
use sgmcmc_core::{TensorTree, array, zeros};

/// A struct of tensors that is a tree; the derive macro is not for this crate, which the facade depends on.
macro_rules! observations {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $template:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type),+
        }

        impl TensorTree for $name {
            fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
                $(path.within(stringify!($field), |path| self.$field.visit(path, visitor));)+
            }

            fn rebuild<S: Source>(&self, source: &mut S) -> Self {
                Self { $($field: self.$field.rebuild(source)),+ }
            }
        }

        impl $name {
            /// A tree of this structure, to give a data set its type.
            pub(super) fn template() -> sgmcmc_core::Result<Self> {
                Ok(Self { $($field: $template),+ })
            }
        }
    };
}

observations! {
    /// Features and a label of 0 or 1.
    Labelled {
        /// Features, `[n, d]`.
        x: Tensor<2> = zeros([1, 1]),
        /// Labels, `[n]`.
        y: Tensor<1> = zeros([1]),
    }
}

observations! {
    /// Features and a class.
    Classified {
        /// Features, `[n, d]`.
        x: Tensor<2> = zeros([1, 1]),
        /// Classes counting from 0, `[n]`.
        class: Tensor<1, Int> = array(vec![0_i64], [1])?,
    }
}

observations! {
    /// Ratings of items by users.
    Ratings {
        /// Users counting from 0, `[n]`.
        user: Tensor<1, Int> = array(vec![0_i64], [1])?,
        /// Items counting from 0, `[n]`.
        item: Tensor<1, Int> = array(vec![0_i64], [1])?,
        /// Ratings from 1 to 5, `[n]`.
        rating: Tensor<1> = zeros([1]),
    }
}

observations! {
    /// Which areas of a web site users visited.
    Visits {
        /// 1 where a user visited an area and else 0, `[n, areas]`.
        visited: Tensor<2> = zeros([1, 1]),
    }
}

observations! {
    /// Documents as bags of words. Short ones are padded by word 0 with count 0.
    Documents {
        /// The distinct words of each document, counting from 0, `[n, longest]`.
        word: Tensor<2, Int> = array(vec![0_i64], [1, 1])?,
        /// How often each occurs, `[n, longest]`.
        count: Tensor<2> = zeros([1, 1]),
    }
}

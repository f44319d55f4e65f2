//! Tuples, arrays and vectors of trees. The name of a member is its position.

use burn_tensor::Tensor;

use super::prior::{PriorDraws, sum};
use super::{Path, Source, TensorTree, Visitor};

impl<T: TensorTree, const N: usize> TensorTree for [T; N] {
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
        for (position, member) in self.iter().enumerate() {
            path.within(position, |path| member.visit(path, visitor));
        }
    }

    fn rebuild<S: Source>(&self, source: &mut S) -> Self {
        std::array::from_fn(|position| self[position].rebuild(source))
    }

    const HAS_PRIOR: bool = T::HAS_PRIOR;

    fn log_prior(&self) -> Option<Tensor<1>> {
        self.iter().map(TensorTree::log_prior).fold(None, sum)
    }

    fn draw_prior(&self, draws: &mut PriorDraws<'_>) -> Self {
        std::array::from_fn(|position| draws.within(position, |draws| self[position].draw_prior(draws)))
    }
}

impl<T: TensorTree> TensorTree for Vec<T> {
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
        for (position, member) in self.iter().enumerate() {
            path.within(position, |path| member.visit(path, visitor));
        }
    }

    fn rebuild<S: Source>(&self, source: &mut S) -> Self {
        self.iter().map(|member| member.rebuild(source)).collect()
    }

    const HAS_PRIOR: bool = T::HAS_PRIOR;

    fn log_prior(&self) -> Option<Tensor<1>> {
        self.iter().map(TensorTree::log_prior).fold(None, sum)
    }

    fn draw_prior(&self, draws: &mut PriorDraws<'_>) -> Self {
        self.iter()
            .enumerate()
            .map(|(position, member)| draws.within(position, |draws| member.draw_prior(draws)))
            .collect()
    }
}

/// The tree without leaves, which is the data of a model without observations.
impl TensorTree for () {
    fn visit<V: Visitor>(&self, _path: &mut Path, _visitor: &mut V) {}

    fn rebuild<S: Source>(&self, _source: &mut S) -> Self {}

    fn draw_prior(&self, _draws: &mut PriorDraws<'_>) -> Self {}
}

macro_rules! tuple {
    ($($member:ident $position:tt),+) => {
        impl<$($member: TensorTree),+> TensorTree for ($($member,)+) {
            fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
                $(path.within($position, |path| self.$position.visit(path, visitor));)+
            }

            fn rebuild<S: Source>(&self, source: &mut S) -> Self {
                ($(self.$position.rebuild(source),)+)
            }

            const HAS_PRIOR: bool = $($member::HAS_PRIOR)||+;

            fn log_prior(&self) -> Option<Tensor<1>> {
                [$(self.$position.log_prior()),+].into_iter().fold(None, sum)
            }

            fn draw_prior(&self, draws: &mut PriorDraws<'_>) -> Self {
                ($(draws.within($position, |draws| self.$position.draw_prior(draws)),)+)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, E 3);
tuple!(A 0, B 1, C 2, E 3, F 4);
tuple!(A 0, B 1, C 2, E 3, F 4, G 5);
tuple!(A 0, B 1, C 2, E 3, F 4, G 5, H 6);
tuple!(A 0, B 1, C 2, E 3, F 4, G 5, H 6, I 7);

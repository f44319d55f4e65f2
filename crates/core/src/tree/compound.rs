//! Tuples, arrays and vectors of trees. The name of a member is its position.

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
}

/// The tree without leaves, which is the data of a model without observations.
impl TensorTree for () {
    fn visit<V: Visitor>(&self, _path: &mut Path, _visitor: &mut V) {}

    fn rebuild<S: Source>(&self, _source: &mut S) -> Self {}
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

//! Which observations a computation is over, and with what weights.

use std::ops::Range;

use crate::error::{Error, Result};

/// Which observations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Selection<'a> {
    /// `length` consecutive rows from `start`.
    Range {
        /// The first row.
        start: usize,
        /// How many.
        length: usize,
    },
    /// These rows, in this order; one may occur more than once.
    List(&'a [usize]),
}

/// How much each observation counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights<'a> {
    /// All alike.
    Same(f64),
    /// One weight per selected row.
    Each(&'a [f64]),
}

/// Observations and their weights: what Σᵢ wᵢ log p(xᵢ|θ) runs over.
///
/// ```
/// use sgmcmc_core::Rows;
///
/// let minibatch = Rows::list(&[7, 2]).scaled(500.0);
/// assert_eq!(minibatch.iter().collect::<Vec<_>>(), [(7, 500.0), (2, 500.0)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows<'a> {
    selection: Selection<'a>,
    weights: Weights<'a>,
}

impl<'a> Rows<'a> {
    /// The rows of `range`, each with weight one.
    pub fn range(range: Range<usize>) -> Self {
        let selection = Selection::Range { start: range.start, length: range.len() };
        Self { selection, weights: Weights::Same(1.0) }
    }

    /// These rows, each with weight one.
    pub fn list(rows: &'a [usize]) -> Self {
        Self { selection: Selection::List(rows), weights: Weights::Same(1.0) }
    }

    /// The same rows, all with weight `weight`.
    #[must_use]
    pub fn scaled(self, weight: f64) -> Self {
        Self { weights: Weights::Same(weight), ..self }
    }

    /// The same rows with one weight each.
    ///
    /// # Errors
    ///
    /// If there is not one weight per row.
    pub fn weighted(self, weights: &'a [f64]) -> Result<Self> {
        if weights.len() == self.len() {
            Ok(Self { weights: Weights::Each(weights), ..self })
        } else {
            Err(Error::Length { what: "the list of row weights", expected: self.len(), found: weights.len() })
        }
    }

    /// Which rows.
    pub fn selection(&self) -> Selection<'a> {
        self.selection
    }

    /// Their weights.
    pub fn weights(&self) -> Weights<'a> {
        self.weights
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        match self.selection {
            Selection::Range { length, .. } => length,
            Selection::List(rows) => rows.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row numbers and weights, one after another.
    pub fn iter(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        (0..self.len()).map(move |position| (self.row(position), self.weight(position)))
    }

    /// The row number at `position` of the selection.
    pub fn row(&self, position: usize) -> usize {
        match self.selection {
            Selection::Range { start, .. } => start + position,
            Selection::List(rows) => rows[position],
        }
    }

    /// The same selection cut into pieces of at most `size` rows.
    pub fn chunks(self, size: usize) -> impl Iterator<Item = Self> {
        let size = size.max(1);
        (0..self.len()).step_by(size).map(move |start| self.part(start, size.min(self.len() - start)))
    }

    /// An error unless every row is below `observations`.
    pub fn check(&self, observations: usize) -> Result<()> {
        let outside = match self.selection {
            Selection::Range { start, length } => length > 0 && start + length > observations,
            Selection::List(rows) => any_outside(rows, observations),
        };
        if outside {
            let row = self.iter().map(|(row, _)| row).max().unwrap_or(observations);
            return Err(Error::RowOutOfRange { row, observations });
        }
        Ok(())
    }

    fn weight(&self, position: usize) -> f64 {
        match self.weights {
            Weights::Same(weight) => weight,
            Weights::Each(weights) => weights[position],
        }
    }

    /// `length` rows of the selection from position `from` on.
    pub(crate) fn part(&self, from: usize, length: usize) -> Self {
        let selection = match self.selection {
            Selection::Range { start, .. } => Selection::Range { start: start + from, length },
            Selection::List(rows) => Selection::List(&rows[from..from + length]),
        };
        let weights = match self.weights {
            Weights::Same(weight) => Weights::Same(weight),
            Weights::Each(weights) => Weights::Each(&weights[from..from + length]),
        };
        Self { selection, weights }
    }
}

/// Whether one of `rows` is not below `observations`, which is what `isize` can hold at most.
///
/// This is done at every step, so without a branch per row and with operations that every machine has for several numbers at once: with
/// row and bound below the sign bit, row − bound has it if and only if row < bound.
fn any_outside(rows: &[usize], observations: usize) -> bool {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let (below, large) =
                rows.iter().fold((!0, 0), |(below, large), row| (below & row.wrapping_sub(observations), large | row));
            (!below | large) >> (usize::BITS - 1) == 1
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_selection_once() {
        let list = [5, 3, 8, 8, 1, 0, 2];
        let weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let rows = Rows::list(&list).weighted(&weights).unwrap();
        let pieces: Vec<_> = rows.chunks(3).flat_map(|piece| piece.iter().collect::<Vec<_>>()).collect();
        assert_eq!(pieces, rows.iter().collect::<Vec<_>>());
        let range: Vec<_> = Rows::range(4..11).chunks(3).map(|piece| (piece.row(0), piece.len())).collect();
        assert_eq!(range, [(4, 3), (7, 3), (10, 1)]);
    }

    #[test]
    fn rows_past_the_end_are_named() {
        let error = Rows::list(&[1, 9, 3]).check(9).unwrap_err();
        assert_eq!(error, Error::RowOutOfRange { row: 9, observations: 9 });
        assert!(Rows::range(0..9).check(9).is_ok());
        assert!(Rows::range(0..10).check(9).is_err());
    }
}

//! Step sizes: one schedule for all parameters, or one per named parameter.

use std::ops::Range;

use sgmcmc_core::{Error, Layout, Result};

use crate::per_parameter::PerParameter;
use crate::schedule::SharedSchedule;

/// The step size h of every parameter at every iteration.
///
/// ```
/// use sgmcmc_samplers::StepSize;
/// use sgmcmc_samplers::schedule::Polynomial;
///
/// let one_for_all = StepSize::from(1e-4);
/// let by_name = StepSize::from(1e-4).parameter("bias", Polynomial { a: 0.01, b: 10.0, gamma: 0.55 });
/// ```
pub type StepSize = PerParameter<SharedSchedule>;

impl<S: Into<SharedSchedule>> From<S> for StepSize {
    fn from(schedule: S) -> Self {
        Self::all(schedule.into())
    }
}

impl StepSize {
    /// Ties the schedules to the coordinates of `layout`.
    ///
    /// # Errors
    ///
    /// If a schedule is out of range or belongs to a parameter that is not there.
    pub fn resolve(&self, layout: &Layout, temperature: &SharedSchedule) -> Result<Pace> {
        self.values().try_for_each(|schedule| schedule.check())?;
        temperature.check()?;
        let places = self.places(layout)?.into_iter();
        let (pieces, schedules) =
            places.map(|(range, schedule)| (Piece { range, h: f64::NAN, previous: f64::NAN }, schedule.clone())).unzip();
        let common = self.common().clone();
        let schedules: Vec<SharedSchedule> = schedules;
        let constant = schedules.iter().chain([&common, temperature]).all(|schedule| schedule.constant().is_some());
        let now = Now { t: 0, h: f64::NAN, temperature: f64::NAN };
        let mut pace = Pace { pieces, schedules, common, temperature: temperature.clone(), constant, now };
        pace.look(0)?;
        Ok(pace)
    }
}

/// Coordinates with a common step size.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The coordinates.
    pub range: Range<usize>,
    /// Their step size.
    pub h: f64,
    /// Their step size in the iteration before; the same as `h` in the first.
    pub previous: f64,
}

impl Piece {
    /// Returns √(h/h'), h' the step size of the iteration before: the factor that keeps a velocity of variance hT at its temperature.
    pub fn velocity_factor(&self) -> f64 {
        if self.h.to_bits() == self.previous.to_bits() { 1.0 } else { (self.h / self.previous).sqrt() }
    }
}

/// What one step needs to know of its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick<'a> {
    /// The iteration, from 0.
    pub t: u64,
    /// The temperature T of the noise.
    pub temperature: f64,
    /// The common step size: the weight of the draw this step makes.
    pub h: f64,
    /// The step size of every coordinate.
    pub pieces: &'a [Piece],
}

impl<'a> Tick<'a> {
    /// The step sizes of the coordinates in `range`.
    pub fn within(self, range: Range<usize>) -> impl Iterator<Item = Piece> + 'a {
        let first = self.pieces.partition_point(|piece| piece.range.end <= range.start);
        let cut = {
            let range = range.clone();
            move |piece: &Piece| Piece {
                range: piece.range.start.max(range.start)..piece.range.end.min(range.end),
                ..*piece
            }
        };
        self.pieces[first..].iter().take_while(move |piece| piece.range.start < range.end).map(cut)
    }
}

/// Schedules tied to the coordinates of a chain.
#[derive(Clone, Debug)]
pub struct Pace {
    pieces: Vec<Piece>,
    schedules: Vec<SharedSchedule>,
    common: SharedSchedule,
    temperature: SharedSchedule,
    /// Whether every iteration is like the first.
    constant: bool,
    now: Now,
}

/// What the schedules said last, besides the step sizes of the pieces.
#[derive(Clone, Copy, Debug)]
struct Now {
    t: u64,
    h: f64,
    temperature: f64,
}

impl Pace {
    /// The step sizes of the last tick.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The step sizes and the temperature of iteration `t`.
    ///
    /// # Errors
    ///
    /// If a schedule gives a step size that is not positive, or a negative temperature.
    pub fn tick(&mut self, t: u64) -> Result<Tick<'_>> {
        if !self.constant {
            self.look(t)?;
        }
        let Now { h, temperature, .. } = self.now;
        Ok(Tick { t, temperature, h, pieces: &self.pieces })
    }

    /// Asks the schedules about iteration `t`.
    fn look(&mut self, t: u64) -> Result<()> {
        for (piece, schedule) in self.pieces.iter_mut().zip(&self.schedules) {
            let last = piece.h;
            piece.h = step_size(schedule, t)?;
            piece.previous = match t {
                0 => piece.h,
                // Evaluated one iteration ago.
                _ if self.now.t.checked_add(1) == Some(t) => last,
                _ => step_size(schedule, t - 1)?,
            };
        }
        let (h, temperature) = (step_size(&self.common, t)?, self.temperature.at(t));
        if !(temperature.is_finite() && temperature >= 0.0) {
            let expected = "it must be zero or a positive number";
            return Err(Error::Setting { name: "the temperature", value: temperature.to_string(), expected });
        }
        self.now = Now { t, h, temperature };
        Ok(())
    }
}

fn step_size(schedule: &SharedSchedule, t: u64) -> Result<f64> {
    let h = schedule.at(t);
    if h.is_finite() && h > 0.0 {
        return Ok(h);
    }
    let value = format!("{h} at iteration {t}");
    Err(Error::Setting { name: "the step size", value, expected: "it must be a positive number" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sgmcmc_core::{Named, zeros};

    fn layout() -> Layout {
        let params = Named::new().with("a", zeros([2])).with("b", zeros([3])).with("c", zeros([1]));
        Layout::of(&params).unwrap()
    }

    fn pieces(step_size: StepSize, t: u64) -> Vec<(Range<usize>, f64)> {
        let mut pace = step_size.resolve(&layout(), &1.0.into()).unwrap();
        pace.tick(t).unwrap().pieces.iter().map(|piece| (piece.range.clone(), piece.h)).collect()
    }

    #[test]
    fn named_step_sizes_go_to_their_parameters() {
        assert_eq!(pieces(0.1.into(), 0), [(0..6, 0.1)]);
        assert_eq!(pieces(StepSize::from(0.1).parameter("b", 0.2), 0), [(0..2, 0.1), (2..5, 0.2), (5..6, 0.1)]);
        let fading = StepSize::from(0.1).parameter("c", |t: u64| 1.0 / (1.0 + t as f64));
        assert_eq!(pieces(fading, 3), [(0..5, 0.1), (5..6, 0.25)]);
    }

    #[test]
    fn step_sizes_of_a_range_are_cut_to_it() {
        let mut pace = StepSize::from(0.1).parameter("b", 0.2).resolve(&layout(), &1.0.into()).unwrap();
        let tick = pace.tick(0).unwrap();
        let within = |range| tick.within(range).map(|piece| (piece.range, piece.h)).collect::<Vec<_>>();
        assert_eq!(within(0..6), [(0..2, 0.1), (2..5, 0.2), (5..6, 0.1)]);
        assert_eq!(within(1..3), [(1..2, 0.1), (2..3, 0.2)]);
        assert_eq!(within(2..5), [(2..5, 0.2)]);
        assert_eq!(within(2..2), []);
    }

    #[test]
    fn mistakes_are_named() {
        let refused = |step_size: StepSize| step_size.resolve(&layout(), &1.0.into()).unwrap_err().to_string();
        assert!(refused(StepSize::from(0.1).parameter("d", 0.1)).contains("no parameter `d`"));
        assert!(refused(StepSize::from(-0.1)).contains("step size is -0.1"));
        assert!(refused(StepSize::from(|_: u64| f64::NAN)).contains("NaN at iteration 0"));
        let cold = StepSize::from(0.1).resolve(&layout(), &(-1.0).into()).unwrap_err().to_string();
        assert!(cold.contains("temperature is -1"), "{cold}");
    }
}

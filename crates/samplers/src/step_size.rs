//! Step sizes: one schedule for all parameters, or one per named parameter.

use std::ops::Range;

use sgmcmc_gradient::{Error, Layout, Result};

use crate::per_parameter::PerParameter;
use crate::schedule::SharedSchedule;

/// The step size h of every parameter at every iteration.
///
/// A number is a constant step size, and every [`Schedule`](crate::schedule::Schedule) is one that depends on the
/// iteration. Step sizes are h = ε² in all algorithms, where ε is the step of the integrator. They have the unit of a
/// variance of the coordinates.
///
/// # Examples
///
/// ```
/// use sgmcmc::StepSize;
/// use sgmcmc::schedule::Polynomial;
///
/// let constant = StepSize::from(1e-4);
/// let decreasing = StepSize::from(Polynomial { a: 0.01, b: 10.0, gamma: 0.55 });
/// let closure = StepSize::from(|t: u64| 1e-3 / (1.0 + t as f64));
/// let by_name = StepSize::from(1e-4).parameter("bias", 1e-2);
/// assert_eq!(by_name.of("bias").at(0), 1e-2);
/// assert_eq!(by_name.of("beta").at(0), 1e-4);
/// # let _ = (constant, decreasing, closure);
/// ```
pub type StepSize = PerParameter<SharedSchedule>;

impl<S: Into<SharedSchedule>> From<S> for StepSize {
    fn from(schedule: S) -> Self {
        Self::new(schedule.into())
    }
}

impl StepSize {
    /// Assigns the schedules to the coordinates of `layout`.
    ///
    /// # Errors
    ///
    /// Returns an error if a schedule is out of range, or if `layout` has no parameter of a given name.
    pub fn resolve(&self, layout: &Layout, temperature: &SharedSchedule) -> Result<StepSchedule> {
        self.values().try_for_each(|schedule| schedule.check())?;
        temperature.check()?;
        let (blocks, schedules) = self
            .by_range(layout)?
            .into_iter()
            .map(|(range, schedule)| (StepBlock { range, h: f64::NAN, previous: f64::NAN }, schedule.clone()))
            .unzip();
        let common = self.common().clone();
        let schedules: Vec<SharedSchedule> = schedules;
        let constant = schedules.iter().chain([&common, temperature]).all(|schedule| schedule.constant().is_some());
        let current = Current { t: 0, h: f64::NAN, temperature: f64::NAN };
        let temperature = temperature.clone();
        let mut step_schedule = StepSchedule { blocks, schedules, common, temperature, constant, current };
        step_schedule.evaluate(0)?;
        Ok(step_schedule)
    }
}

/// A range of coordinates with a common step size.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::StepBlock;
///
/// let block = StepBlock { range: 0..2, h: 0.25, previous: 1.0 };
/// assert_eq!(block.velocity_factor(), 0.5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StepBlock {
    /// The range of coordinates.
    pub range: Range<usize>,
    /// The step size of the current iteration.
    pub h: f64,
    /// The step size of the previous iteration; equal to `h` in the first iteration.
    pub previous: f64,
}

impl StepBlock {
    /// Returns √(h/h'), where h' is the step size of the previous iteration. This factor keeps a velocity of variance
    /// hT at its temperature.
    pub fn velocity_factor(&self) -> f64 {
        if self.h.to_bits() == self.previous.to_bits() { 1.0 } else { (self.h / self.previous).sqrt() }
    }
}

/// The iteration, temperature and step sizes of one step.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{StepBlock, StepContext};
///
/// let blocks = [StepBlock { range: 0..2, h: 0.1, previous: 0.1 }, StepBlock { range: 2..5, h: 0.2, previous: 0.2 }];
/// let context = StepContext { t: 0, temperature: 1.0, h: 0.1, blocks: &blocks };
/// let ranges: Vec<_> = context.within(1..3).map(|block| block.range).collect();
/// assert_eq!(ranges, [1..2, 2..3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepContext<'a> {
    /// The index of the iteration, from 0.
    pub t: u64,
    /// The temperature T of the noise.
    pub temperature: f64,
    /// The common step size. It is the weight of the draw of this step.
    pub h: f64,
    /// The step sizes of all coordinates, in ascending ranges.
    pub blocks: &'a [StepBlock],
}

impl<'a> StepContext<'a> {
    /// Returns the step sizes of the coordinates in `range`, as blocks that are cut to `range`.
    pub fn within(self, range: Range<usize>) -> impl Iterator<Item = StepBlock> + 'a {
        let first = self.blocks.partition_point(|block| block.range.end <= range.start);
        let cut = {
            let range = range.clone();
            move |block: &StepBlock| StepBlock {
                range: block.range.start.max(range.start)..block.range.end.min(range.end),
                ..*block
            }
        };
        self.blocks[first..].iter().take_while(move |block| block.range.start < range.end).map(cut)
    }
}

/// Schedules of step sizes and temperature, assigned to the coordinates of a chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::{Layout, StepSize};
///
/// let layout = Layout::new([("a".into(), vec![2], None), ("b".into(), vec![3], None)])?;
/// let mut schedule = StepSize::from(0.1).parameter("b", 0.2).resolve(&layout, &1.0.into())?;
/// let context = schedule.context(0)?;
/// assert_eq!(context.temperature, 1.0);
/// assert_eq!((context.blocks[1].range.clone(), context.blocks[1].h), (2..5, 0.2));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StepSchedule {
    blocks: Vec<StepBlock>,
    schedules: Vec<SharedSchedule>,
    common: SharedSchedule,
    temperature: SharedSchedule,
    /// True if all schedules are constant.
    constant: bool,
    current: Current,
}

/// The last values of the common schedules.
#[derive(Clone, Copy, Debug)]
struct Current {
    t: u64,
    h: f64,
    temperature: f64,
}

impl StepSchedule {
    /// Returns the step sizes of the last iteration.
    pub fn blocks(&self) -> &[StepBlock] {
        &self.blocks
    }

    /// Evaluates the step sizes and the temperature at iteration `t`.
    ///
    /// # Errors
    ///
    /// Returns an error if a step size is not positive or the temperature is negative.
    pub fn context(&mut self, t: u64) -> Result<StepContext<'_>> {
        if !self.constant {
            self.evaluate(t)?;
        }
        let Current { h, temperature, .. } = self.current;
        Ok(StepContext { t, temperature, h, blocks: &self.blocks })
    }

    /// Evaluates all schedules at iteration `t`.
    fn evaluate(&mut self, t: u64) -> Result<()> {
        for (block, schedule) in self.blocks.iter_mut().zip(&self.schedules) {
            let last = block.h;
            block.h = step_size(schedule, t)?;
            block.previous = match t {
                0 => block.h,
                // Evaluated one iteration ago.
                _ if self.current.t.checked_add(1) == Some(t) => last,
                _ => step_size(schedule, t - 1)?,
            };
        }
        let (h, temperature) = (step_size(&self.common, t)?, self.temperature.at(t));
        if !(temperature.is_finite() && temperature >= 0.0) {
            let expected = "it must be zero or a positive number";
            return Err(Error::Setting { name: "the temperature", value: temperature.to_string(), expected });
        }
        self.current = Current { t, h, temperature };
        Ok(())
    }
}

/// Evaluates `schedule` at iteration `t` and checks that the value is a step size.
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

    fn layout() -> Layout {
        Layout::new([("a", 2), ("b", 3), ("c", 1)].map(|(name, size)| (name.into(), vec![size], None))).unwrap()
    }

    fn blocks(step_size: StepSize, t: u64) -> Vec<(Range<usize>, f64)> {
        let mut step_schedule = step_size.resolve(&layout(), &1.0.into()).unwrap();
        step_schedule.context(t).unwrap().blocks.iter().map(|block| (block.range.clone(), block.h)).collect()
    }

    #[test]
    fn named_step_sizes_are_assigned_to_their_parameters() {
        assert_eq!(blocks(0.1.into(), 0), [(0..6, 0.1)]);
        assert_eq!(blocks(StepSize::from(0.1).parameter("b", 0.2), 0), [(0..2, 0.1), (2..5, 0.2), (5..6, 0.1)]);
        let decreasing = StepSize::from(0.1).parameter("c", |t: u64| 1.0 / (1.0 + t as f64));
        assert_eq!(blocks(decreasing, 3), [(0..5, 0.1), (5..6, 0.25)]);
    }

    #[test]
    fn blocks_are_cut_to_a_range() {
        let mut step_schedule = StepSize::from(0.1).parameter("b", 0.2).resolve(&layout(), &1.0.into()).unwrap();
        let context = step_schedule.context(0).unwrap();
        let within = |range| context.within(range).map(|block| (block.range, block.h)).collect::<Vec<_>>();
        assert_eq!(within(0..6), [(0..2, 0.1), (2..5, 0.2), (5..6, 0.1)]);
        assert_eq!(within(1..3), [(1..2, 0.1), (2..3, 0.2)]);
        assert_eq!(within(2..5), [(2..5, 0.2)]);
        assert_eq!(within(2..2), []);
    }

    #[test]
    fn errors_name_the_setting() {
        let message = |step_size: StepSize| step_size.resolve(&layout(), &1.0.into()).unwrap_err().to_string();
        assert!(message(StepSize::from(0.1).parameter("d", 0.1)).contains("no parameter `d`"));
        assert!(message(StepSize::from(-0.1)).contains("step size is -0.1"));
        assert!(message(StepSize::from(|_: u64| f64::NAN)).contains("NaN at iteration 0"));
        let negative = StepSize::from(0.1).resolve(&layout(), &(-1.0).into()).unwrap_err().to_string();
        assert!(negative.contains("temperature is -1"), "{negative}");
    }
}

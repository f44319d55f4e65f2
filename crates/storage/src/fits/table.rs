//! Between files and a [`Fit`]: columns by name, shapes from the names of columns, chains of different lengths.

use std::collections::BTreeMap;
use std::path::Path;

use sgmcmc_core::{Constraint, Layout};
use sgmcmc_samplers::run::{ChainDraws, Ending, Fit};
use sgmcmc_samplers::sink::Draw;

use crate::error::{Error, Problem, Result};

/// The columns of one chain, all of the same length.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub(super) iterations: Option<Vec<u64>>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) log_posterior: Option<Vec<f64>>,
    pub(super) stats: Vec<(String, Vec<f64>)>,
    /// One column per value.
    pub(super) values: Vec<Vec<f64>>,
}

impl Chain {
    /// The draws, without those at the end that were never made: a chain that is shorter than the others is filled up with
    /// iteration 0.
    fn draws(self, file: &Path, draws: usize) -> Result<ChainDraws> {
        let made = self.iterations.as_ref().map_or(draws, |all| all.iter().rposition(|&i| i != 0).map_or(0, |i| i + 1));
        let columns = self.values.iter().chain(self.stats.iter().map(|(_, column)| column));
        let columns = columns.chain(&self.weights).chain(&self.log_posterior).map(Vec::len);
        if let Some(found) = columns.chain(self.iterations.as_ref().map(Vec::len)).find(|found| *found != draws) {
            let detail = format!("a variable has {found} draws where another has {draws}");
            return Err(Error::file(file, Problem::Corrupt { detail }));
        }
        let names = self.stats.iter().map(|(name, _)| name.clone()).collect();
        let mut chain = ChainDraws::new(self.values.len(), names);
        let (mut values, mut stats) = (vec![0.0; self.values.len()], vec![0.0; self.stats.len()]);
        for draw in 0..made.min(draws) {
            values.iter_mut().zip(&self.values).for_each(|(value, column)| *value = column[draw]);
            stats.iter_mut().zip(&self.stats).for_each(|(stat, (_, column))| *stat = column[draw]);
            let draw = Draw {
                iteration: self.iterations.as_ref().map_or(draw as u64 + 1, |all| all[draw]),
                values: &values,
                weight: self.weights.as_ref().map_or(1.0, |all| all[draw]),
                log_posterior: self.log_posterior.as_ref().map_or(f64::NAN, |all| all[draw]),
                stats: &stats,
            };
            chain.push(&draw).map_err(Error::content(file))?;
        }
        Ok(chain)
    }
}

/// Most chains that are believed to be missing.
pub(super) const MOST_CHAINS: usize = 1 << 16;

/// The draws that chains were to make, by the number of the chain.
pub(super) type Planned = BTreeMap<usize, usize>;

/// The fit that numbered chains make, each with its columns and their length.
///
/// A chain with fewer draws than planned counts as stopped. A chain that was planned and is not among `chains` has no draws.
pub(super) fn fit(file: &Path, layout: Layout, chains: Vec<(usize, Chain, usize)>, planned: &Planned) -> Result<Fit> {
    let mut found: Vec<(usize, ChainDraws)> = Vec::new();
    for (number, chain, draws) in chains {
        found.push((number, chain.draws(file, draws)?));
    }
    if found.iter().all(|(_, chain)| chain.is_empty()) {
        return Err(Error::file(file, Problem::NoDraws));
    }
    unfinished(file, layout, found, planned)
}

/// Adds the chains below the highest number: their sinks failed before they made a file.
pub(super) fn fill_gaps(planned: &mut Planned, chains: impl Iterator<Item = usize>) {
    let highest = chains.chain(planned.keys().copied()).filter(|number| *number < MOST_CHAINS).max().unwrap_or(0);
    (0..highest).for_each(|number| _ = planned.entry(number).or_insert(1));
}

/// As [`fit`], of chains that are draws already.
pub(super) fn unfinished(
    file: &Path,
    layout: Layout,
    mut chains: Vec<(usize, ChainDraws)>,
    planned: &Planned,
) -> Result<Fit> {
    let stats = chains.first().map(|(_, chain)| chain.stat_names().to_vec()).unwrap_or_default();
    for number in planned.keys() {
        if !chains.iter().any(|(found, _)| found == number) {
            chains.push((*number, ChainDraws::new(layout.value_count(), stats.clone())));
        }
    }
    // Stable, so that chains of the same number stay in their order.
    chains.sort_by_key(|(number, _)| *number);
    let short = |(number, chain): &(usize, ChainDraws)| planned.get(number).is_some_and(|draws| chain.len() < *draws);
    let endings = chains.iter().map(|chain| if short(chain) { Ending::Stopped } else { Ending::Complete }).collect();
    let chains = chains.into_iter().map(|(_, chain)| chain).collect();
    Fit::new(layout, chains).and_then(|fit| fit.with_endings(endings)).map_err(Error::content(file))
}

/// The layout of parameters of these names and shapes; a scalar has one element.
pub(super) fn layout(file: &Path, variables: impl IntoIterator<Item = (String, Vec<usize>)>) -> Result<Layout> {
    let variables: Vec<_> = variables
        .into_iter()
        .map(|(name, shape)| (name, if shape.is_empty() { vec![1] } else { shape }, None::<Constraint>))
        .collect();
    let mut names: Vec<&str> = variables.iter().map(|(name, ..)| name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::file(file, Problem::RepeatedColumn { name: twice[0].to_owned() }));
    }
    Layout::new(variables).map_err(Error::content(file))
}

/// The numbers that come with the draws of every chain.
pub(super) fn stat_names(fit: &Fit) -> Vec<String> {
    let Some((first, others)) = fit.chains().split_first() else { return Vec::new() };
    let everywhere = |name: &&String| others.iter().all(|chain| chain.stat(name).is_some());
    first.stat_names().iter().filter(everywhere).cloned().collect()
}

/// The columns of one element each: `name`, `shape`, and the number of the column of every element in row-major order.
pub(super) type Grouped = (String, Vec<usize>, Vec<usize>);

/// The subscripts, number and name of a column.
type Member<'a> = (Vec<usize>, usize, &'a str);

/// Finds parameters in the names of columns: `W[0,1]` (subscripts from 0) or, as Stan has them, `W.1.2` (from 1).
///
/// Columns whose subscripts do not fill a box are parameters of their own.
pub(super) fn group(columns: &[(usize, &str)], stan: bool) -> Vec<Grouped> {
    let mut found: Vec<(&str, Vec<Member<'_>>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (column, name) in columns {
        let (stem, subscripts) = subscripts(name, stan);
        let place = *places.entry((stem, subscripts.len())).or_insert_with(|| {
            found.push((stem, Vec::new()));
            found.len() - 1
        });
        found[place].1.push((subscripts, *column, name));
    }
    let mut grouped = Vec::new();
    for (stem, members) in found {
        match filled(&members) {
            Some((shape, columns)) => grouped.push((stem.to_owned(), shape, columns)),
            None => {
                grouped.extend(members.iter().map(|(_, column, name)| ((*name).to_owned(), vec![1], vec![*column])))
            }
        }
    }
    grouped
}

/// The shape that the subscripts fill, each place once, and the columns in row-major order.
fn filled(members: &[Member<'_>]) -> Option<(Vec<usize>, Vec<usize>)> {
    let rank = members.first()?.0.len();
    if rank == 0 {
        return (members.len() == 1).then(|| (vec![1], vec![members[0].1]));
    }
    let size = |axis: usize| members.iter().map(|(subscripts, ..)| subscripts[axis]).max()?.checked_add(1);
    let shape: Vec<usize> = (0..rank).map(size).collect::<Option<_>>()?;
    let count = shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
    if count != members.len() {
        return None;
    }
    let mut columns = vec![usize::MAX; count];
    for (subscripts, column, _) in members {
        columns[subscripts.iter().zip(&shape).fold(0, |flat, (subscript, size)| flat * size + subscript)] = *column;
    }
    columns.iter().all(|column| *column != usize::MAX).then_some((shape, columns))
}

fn subscripts(name: &str, stan: bool) -> (&str, Vec<usize>) {
    if stan {
        let mut stem = name;
        let mut subscripts = Vec::new();
        while let Some((rest, last)) = stem.rsplit_once('.') {
            match last.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) {
                Some(number) if !rest.is_empty() => subscripts.insert(0, number),
                _ => break,
            }
            stem = rest;
        }
        return (stem, subscripts);
    }
    let inside = name.strip_suffix(']').and_then(|open| open.rsplit_once('['));
    let parsed = inside.and_then(|(stem, inside)| {
        let subscripts = inside.split(',').map(|s| s.parse().ok()).collect::<Option<Vec<usize>>>()?;
        (!stem.is_empty()).then_some((stem, subscripts))
    });
    parsed.unwrap_or((name, Vec::new()))
}

/// `names` with underscores appended where they are `taken` or come twice.
pub(super) fn unique<'a>(names: impl IntoIterator<Item = &'a str>, taken: &[&str]) -> Vec<String> {
    let mut used: std::collections::HashSet<String> = taken.iter().map(|name| (*name).to_owned()).collect();
    let fresh = |name: &str| {
        let mut name = name.to_owned();
        while !used.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    names.into_iter().map(fresh).collect()
}

/// Draws per block of `width` numbers each: about a quarter of a megabyte, at most 1000 draws.
pub(super) fn draws_per_block(width: usize) -> usize {
    ((1 << 15) / width.max(1)).clamp(1, 1000)
}

/// Hands every draw of `chain` to `take`, its stats in the order of `names`.
pub(super) fn each_draw<E>(
    chain: &ChainDraws,
    names: &[String],
    mut take: impl FnMut(&Draw<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let columns: Vec<&[f64]> = names.iter().filter_map(|name| chain.stat(name)).collect();
    let mut rows = chain.rows();
    let mut stats = vec![0.0; columns.len()];
    for draw in 0..chain.len() {
        stats.iter_mut().zip(&columns).for_each(|(stat, column)| *stat = column[draw]);
        take(&Draw {
            iteration: chain.iterations()[draw],
            values: rows.next().unwrap_or_default(),
            weight: chain.weights()[draw],
            log_posterior: chain.log_posterior()[draw],
            stats: &stats,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(names: &[&str], stan: bool) -> Vec<Grouped> {
        group(&names.iter().copied().enumerate().collect::<Vec<_>>(), stan)
    }

    #[test]
    fn shapes_come_from_the_names_of_columns() {
        // Stan's order is column-major.
        let stan = grouped(&["mu", "W.1.1", "W.2.1", "W.1.2", "W.2.2", "layer.bias"], true);
        assert_eq!(stan[0], ("mu".into(), vec![1], vec![0]));
        assert_eq!(stan[1], ("W".into(), vec![2, 2], vec![1, 3, 2, 4]));
        assert_eq!(stan[2], ("layer.bias".into(), vec![1], vec![5]));
        let ours = grouped(&["a[1][0]", "a[1][1]", "b[0,0,0]", "b[0,1,0]", "c[x]", "[0]"], false);
        assert_eq!(ours[0], ("a[1]".into(), vec![2], vec![0, 1]));
        assert_eq!(ours[1], ("b".into(), vec![1, 2, 1], vec![2, 3]));
        assert_eq!(ours[2], ("c[x]".into(), vec![1], vec![4]));
        assert_eq!(ours[3], ("[0]".into(), vec![1], vec![5]));
    }

    #[test]
    fn columns_that_fill_no_box_stay_by_themselves() {
        let holes = grouped(&["a.1", "a.3", "b.1", "b.1", "c.18446744073709551615", "d.0"], true);
        let names: Vec<&str> = holes.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["a.1", "a.3", "b.1", "b.1", "c.18446744073709551615", "d.0"]);
    }

    #[test]
    fn names_in_use_get_an_underscore() {
        assert_eq!(unique(["draw", "a", "a"], &["draw", "draw_"]), ["draw__", "a", "a_"]);
    }
}

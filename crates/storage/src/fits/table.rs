//! Conversion of the columns of files to a [`Fit`]: shapes from the names of columns, and chains of different lengths.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit};
use sgmcmc_gradient::{Axis, Block, Constraint, Layout};

use crate::error::{Error, Problem, Result};

/// The columns of one chain, all of the same length.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// The number of the chain.
    pub(super) number: usize,
    /// The length of the columns.
    pub(super) draws: usize,
    pub(super) iterations: Option<Vec<u64>>,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) log_posterior: Option<Vec<f64>>,
    pub(super) stats: Vec<(String, Vec<f64>)>,
    /// One column per value.
    pub(super) values: Vec<Vec<f64>>,
}

impl Chain {
    /// Converts the columns to draws.
    ///
    /// Trailing draws with iteration 0 are dropped: they pad a chain that is shorter than the others.
    fn into_draws(self, file: &Path) -> Result<ChainDraws> {
        let draws = self.draws;
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

/// The maximal number of a chain that is assumed to be missing. A larger number is damage.
pub(super) const MOST_CHAINS: usize = 1 << 16;

/// The number of draws that each chain was to make, by the number of the chain.
pub(super) type Planned = BTreeMap<usize, usize>;

/// Creates a fit of the columns of its chains.
///
/// A chain with fewer draws than planned counts as stopped. A planned chain that is not among `chains` has no draws.
pub(super) fn fit(file: &Path, layout: Layout, chains: Vec<Chain>, planned: &Planned) -> Result<Fit> {
    let mut found: Vec<(usize, ChainDraws)> = Vec::new();
    for chain in chains {
        found.push((chain.number, chain.into_draws(file)?));
    }
    if found.iter().all(|(_, chain)| chain.is_empty()) {
        return Err(Error::file(file, Problem::NoDraws));
    }
    fit_from_draws(file, layout, found, planned)
}

/// Adds the missing chains of a run of `chains` chains, or below the highest number. Their sinks failed before they
/// created a file.
pub(super) fn fill_gaps(planned: &mut Planned, chains: usize, found: impl Iterator<Item = usize>) {
    let highest = found.chain(planned.keys().copied()).filter(|number| *number < MOST_CHAINS).max().unwrap_or(0);
    (0..highest.max(chains.min(MOST_CHAINS))).for_each(|number| _ = planned.entry(number).or_insert(1));
}

/// Creates a fit like [`fit()`], from numbered chains of draws.
pub(super) fn fit_from_draws(
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
    // The sort is stable, so that chains of the same number stay in their order.
    chains.sort_by_key(|(number, _)| *number);
    let is_short =
        |(number, chain): &(usize, ChainDraws)| planned.get(number).is_some_and(|draws| chain.len() < *draws);
    let outcomes = chains
        .iter()
        .map(|chain| if is_short(chain) { ChainOutcome::Stopped } else { ChainOutcome::Complete })
        .collect();
    let chains = chains.into_iter().map(|(_, chain)| chain).collect();
    Fit::new(layout, chains).and_then(|fit| fit.with_outcomes(outcomes)).map_err(Error::content(file))
}

/// Creates the layout of parameters with these names and shapes. An empty shape is that of a scalar.
///
/// # Errors
///
/// Returns an error if a name occurs twice.
pub(super) fn layout(file: &Path, variables: impl IntoIterator<Item = (String, Vec<usize>)>) -> Result<Layout> {
    let variables: Vec<_> = variables
        .into_iter()
        .map(|(name, shape)| (name, if shape.is_empty() { vec![1] } else { shape }, None::<Constraint>))
        .collect();
    let mut names: Vec<&str> = variables.iter().map(|(name, ..)| name.as_str()).collect();
    names.sort_unstable();
    if let Some(repeated) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::file(file, Problem::RepeatedColumn { name: repeated[0].to_owned() }));
    }
    Layout::new(variables).map_err(Error::content(file))
}

/// Returns the axes of each parameter in files with named dimensions, where the parameters have the names `names`. A
/// parameter of one value without labels is a number without dimensions.
///
/// All arrays of a group share their dimensions. An axis gets the name of its parameter in front if an earlier one of
/// the same name has other positions, or if its name is that of a parameter.
pub(super) fn axes(layout: &Layout, names: &[String]) -> Vec<Vec<Axis>> {
    let mut known: HashMap<String, (usize, Vec<String>)> = HashMap::new();
    let mut of_block = |(block, name): (&Block, &String)| -> Vec<Axis> {
        if block.shape == [1] && block.axes.iter().all(|axis| axis.labels.is_empty()) {
            return Vec::new();
        }
        let sizes = block.shape.iter().enumerate();
        let axes = sizes.map(|(number, size)| {
            let own = || format!("{name}_dim_{number}");
            let Some(axis) = block.axes.get(number) else { return Axis::new(own()) };
            let positions = (*size, axis.labels.clone());
            let plain = axis.name.replace('\\', "_");
            let is_free =
                |axis: &String| !names.contains(axis) && known.get(axis).is_none_or(|known| *known == positions);
            let candidates = [plain.clone(), format!("{name}_{plain}")];
            let chosen = candidates.into_iter().find(is_free).unwrap_or_else(own);
            known.insert(chosen.clone(), positions);
            Axis { name: chosen, labels: axis.labels.clone() }
        });
        axes.collect()
    };
    layout.blocks().iter().zip(names).map(&mut of_block).collect()
}

/// Returns the names of the statistics that all chains have.
pub(super) fn stat_names(fit: &Fit) -> Vec<String> {
    let Some((first, others)) = fit.chains().split_first() else { return Vec::new() };
    let everywhere = |name: &&String| others.iter().all(|chain| chain.stat(name).is_some());
    first.stat_names().iter().filter(everywhere).cloned().collect()
}

/// A parameter in the columns of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    /// The column of every element in row-major order.
    pub(super) columns: Vec<usize>,
}

/// Returns the layout of parameters and the column of each value.
///
/// # Errors
///
/// Returns an error if a name occurs twice.
pub(super) fn layout_of_columns(file: &Path, parameters: Vec<Parameter>) -> Result<(Layout, Vec<usize>)> {
    let order = parameters.iter().flat_map(|parameter| parameter.columns.iter().copied()).collect();
    let layout = layout(file, parameters.into_iter().map(|parameter| (parameter.name, parameter.shape)))?;
    Ok((layout, order))
}

/// A column with subscripts.
struct Member<'a> {
    subscripts: Vec<usize>,
    column: usize,
    name: &'a str,
}

/// Groups columns to parameters by their names: `W[0,1]` with subscripts from 0, or `W.1.2` with subscripts from 1 in
/// Stan's files.
///
/// Columns whose subscripts do not fill a whole array become scalar parameters.
pub(super) fn group(columns: &[(usize, &str)], stan: bool) -> Vec<Parameter> {
    let mut found: Vec<(&str, Vec<Member<'_>>)> = Vec::new();
    let mut positions = std::collections::HashMap::new();
    for (column, name) in columns {
        let (stem, subscripts) = subscripts(name, stan);
        let position = *positions.entry((stem, subscripts.len())).or_insert_with(|| {
            found.push((stem, Vec::new()));
            found.len() - 1
        });
        found[position].1.push(Member { subscripts, column: *column, name });
    }
    let mut grouped = Vec::new();
    for (stem, members) in found {
        match whole_array(&members) {
            Some((shape, columns)) => grouped.push(Parameter { name: stem.to_owned(), shape, columns }),
            None => {
                let scalar = |member: &Member<'_>| Parameter {
                    name: member.name.to_owned(),
                    shape: vec![1],
                    columns: vec![member.column],
                };
                grouped.extend(members.iter().map(scalar));
            }
        }
    }
    grouped
}

/// Returns the shape that the subscripts fill exactly once, and the columns in row-major order. Returns `None` if there
/// is no such shape.
fn whole_array(members: &[Member<'_>]) -> Option<(Vec<usize>, Vec<usize>)> {
    let rank = members.first()?.subscripts.len();
    if rank == 0 {
        return (members.len() == 1).then(|| (vec![1], vec![members[0].column]));
    }
    let size = |axis: usize| members.iter().map(|member| member.subscripts[axis]).max()?.checked_add(1);
    let shape: Vec<usize> = (0..rank).map(size).collect::<Option<_>>()?;
    let count = shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
    if count != members.len() {
        return None;
    }
    let mut columns = vec![usize::MAX; count];
    for Member { subscripts, column, .. } in members {
        columns[subscripts.iter().zip(&shape).fold(0, |flat, (subscript, size)| flat * size + subscript)] = *column;
    }
    columns.iter().all(|column| *column != usize::MAX).then_some((shape, columns))
}

/// Splits the name of a column into the name of the parameter and the subscripts, counted from 0.
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

/// Returns `names` with underscores appended to names that are `taken` or repeated.
pub(super) fn unique<'a>(names: impl IntoIterator<Item = &'a str>, taken: &[&str]) -> Vec<String> {
    let mut used: std::collections::HashSet<String> = taken.iter().map(|name| (*name).to_owned()).collect();
    let unused = |name: &str| {
        let mut name = name.to_owned();
        while !used.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    names.into_iter().map(unused).collect()
}

/// Returns the number of draws of `width` numbers in a block: about a quarter of a megabyte, and at most 1000 draws.
pub(super) fn draws_per_block(width: usize) -> usize {
    ((1 << 15) / width.max(1)).clamp(1, 1000)
}

/// Calls `take` with every draw of `chain`, with the statistics in the order of `names`.
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

    fn grouped(names: &[&str], stan: bool) -> Vec<Parameter> {
        group(&names.iter().copied().enumerate().collect::<Vec<_>>(), stan)
    }

    fn parameter(name: &str, shape: &[usize], columns: &[usize]) -> Parameter {
        Parameter { name: name.into(), shape: shape.to_vec(), columns: columns.to_vec() }
    }

    #[test]
    fn shapes_come_from_the_names_of_columns() {
        // Stan's order is column-major.
        let stan = grouped(&["mu", "W.1.1", "W.2.1", "W.1.2", "W.2.2", "layer.bias"], true);
        assert_eq!(stan[0], parameter("mu", &[1], &[0]));
        assert_eq!(stan[1], parameter("W", &[2, 2], &[1, 3, 2, 4]));
        assert_eq!(stan[2], parameter("layer.bias", &[1], &[5]));
        let ours = grouped(&["a[1][0]", "a[1][1]", "b[0,0,0]", "b[0,1,0]", "c[x]", "[0]"], false);
        assert_eq!(ours[0], parameter("a[1]", &[2], &[0, 1]));
        assert_eq!(ours[1], parameter("b", &[1, 2, 1], &[2, 3]));
        assert_eq!(ours[2], parameter("c[x]", &[1], &[4]));
        assert_eq!(ours[3], parameter("[0]", &[1], &[5]));
    }

    #[test]
    fn columns_that_fill_no_array_become_scalars() {
        let incomplete = grouped(&["a.1", "a.3", "b.1", "b.1", "c.18446744073709551615", "d.0"], true);
        let names: Vec<&str> = incomplete.iter().map(|parameter| parameter.name.as_str()).collect();
        assert_eq!(names, ["a.1", "a.3", "b.1", "b.1", "c.18446744073709551615", "d.0"]);
    }

    #[test]
    fn names_in_use_get_an_underscore() {
        assert_eq!(unique(["draw", "a", "a"], &["draw", "draw_"]), ["draw__", "a", "a_"]);
    }
}

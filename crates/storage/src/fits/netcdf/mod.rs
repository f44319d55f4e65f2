//! netCDF-4 files with the groups of ArviZ's schema: `arviz.from_netcdf(path)` and `xarray.open_datatree(path)` read them.
//!
//! The groups are `posterior` and `sample_stats` (`lp`, `weight`, `iteration` and the statistics of the run), followed by
//! the other [groups](Fit::groups) of the fit. The dimensions are `chain`, `draw` and those of the
//! [axes](sgmcmc_gradient::Axis) of a parameter, whose labels are coordinates. A `/` in a name becomes `_`, and a name of
//! a dimension gets an underscore. A chain that is shorter than the others is padded with NaN at iteration 0. The
//! attribute `chain_outcomes` has the outcome of each chain in words.
//!
//! The files are for other programs: this library writes them and does not read them. Keep the fit in the native format,
//! too, or convert the file with xarray: `xarray.open_datatree("fit.nc").to_zarr("fit.zarr")`.

mod checksum;
mod hdf5;

use std::collections::HashMap;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit, Group, Variable};
use sgmcmc_gradient::Axis;

use self::hdf5::{Address, Attribute, Elements, Hdf5};
use super::extra;
use super::table::{axes, stat_names, unique};
use super::time;
use crate::error::Result;

/// The dimensions of all draws.
const DIMENSIONS: [&str; 2] = ["chain", "draw"];
/// The sample statistics of every fit.
const FIRST: [&str; 3] = ["lp", "weight", "iteration"];

/// Writes a fit to a file.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::netcdf;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
/// let path = std::env::temp_dir().join("sgmcmc-doc-write.nc");
/// netcdf::write(&fit, &path)?;
/// assert!(std::fs::read(&path)?.starts_with(b"\x89HDF"));
/// # std::fs::remove_file(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> Result<()> {
    super::write_file(path.as_ref(), |file| write_to(fit, file))
}

/// Returns whether the first bytes of a file are those of HDF5.
pub(super) fn recognize(start: &[u8]) -> bool {
    start.starts_with(b"\x89HDF\r\n\x1a\n")
}

fn write_to<W: Write + Seek>(fit: &Fit, file: &mut BufWriter<W>) -> io::Result<()> {
    let mut writer = Writer { file: Hdf5::new(file)?, dimensions: 0 };
    let attributes = attributes(fit);
    let mut groups = vec![
        ("posterior".to_owned(), writer.posterior(fit, &attributes)?),
        ("sample_stats".to_owned(), writer.statistics(fit, &attributes)?),
    ];
    for group in fit.groups() {
        groups.push((plain(&group.name), writer.other(group, &attributes)?));
    }
    let root = writer.file.group(&groups, &borrowed(&attributes))?;
    writer.file.finish(root)
}

/// An attribute and its name.
type NamedAttribute = (&'static str, Attribute);

/// Returns the attributes of the file and of every group.
fn attributes(fit: &Fit) -> Vec<NamedAttribute> {
    let text = |text: &str| Attribute::Text(text.to_owned());
    let version = env!("CARGO_PKG_VERSION");
    let mut attributes = vec![
        ("created_at", Attribute::Text(time::now())),
        ("creation_library", text("sgmcmc")),
        ("creation_library_version", text(version)),
        ("creation_library_language", text("Rust")),
        ("inference_library", text("sgmcmc")),
        ("inference_library_version", text(version)),
        ("sample_dims", Attribute::Texts(DIMENSIONS.map(str::to_owned).to_vec())),
        ("chain_outcomes", Attribute::Texts(fit.outcomes().iter().map(|outcome| words(outcome).to_owned()).collect())),
    ];
    attributes.extend(extra::attributes(fit.info()).into_iter().map(|(name, value)| {
        let attribute = match value.as_f64() {
            Some(number) => Attribute::Number(number),
            None => Attribute::Text(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
        };
        (name, attribute)
    }));
    attributes
}

/// Returns an outcome in words.
fn words(outcome: &ChainOutcome) -> &'static str {
    match outcome {
        outcome if outcome.is_divergence() => "diverged",
        ChainOutcome::Complete => "complete",
        ChainOutcome::Stopped => "stopped",
        ChainOutcome::Failed(_) => "failed",
    }
}

fn borrowed(attributes: &[NamedAttribute]) -> Vec<(&str, Attribute)> {
    attributes.iter().map(|(name, value)| (*name, value.clone())).collect()
}

/// Returns a name without `/`.
fn plain(name: &str) -> String {
    let name = name.replace(['/', '\0'], "_");
    if name.is_empty() || name == "." { "_".to_owned() } else { name }
}

/// The writer of a file.
struct Writer<W> {
    file: Hdf5<W>,
    /// The number of dimensions in the file so far.
    dimensions: i32,
}

/// The content of a group: links to its arrays, and its dimension scales by name.
struct Contents {
    links: Vec<(String, Address)>,
    scales: HashMap<String, Address>,
}

impl<W: Write + Seek> Writer<W> {
    fn posterior(&mut self, fit: &Fit, attributes: &[NamedAttribute]) -> io::Result<Address> {
        let mut contents = self.draws(fit)?;
        let names: Vec<String> = fit.layout().blocks().iter().map(|block| plain(&block.name)).collect();
        let names = unique(names.iter().map(String::as_str), &DIMENSIONS);
        let axes = axes(fit.layout(), &names);
        for ((block, name), axes) in fit.layout().blocks().iter().zip(names).zip(axes) {
            let sizes = if axes.is_empty() { &[][..] } else { &block.shape };
            let missing = vec![f64::NAN; block.values.len()];
            let row = |chain: &ChainDraws, draw: usize| -> Vec<f64> {
                match chain.rows().nth(draw) {
                    Some(row) => row[block.values.clone()].to_vec(),
                    None => missing.clone(),
                }
            };
            let longest = longest(fit);
            let mut values = fit.chains().iter().flat_map(|chain| (0..longest).flat_map(|draw| row(chain, draw)));
            self.add(&mut contents, fit, (name, &axes, sizes), Elements::Floats(&mut values))?;
        }
        self.file.group(&contents.links, &borrowed(attributes))
    }

    fn statistics(&mut self, fit: &Fit, attributes: &[NamedAttribute]) -> io::Result<Address> {
        let mut contents = self.draws(fit)?;
        let longest = longest(fit);
        let padded = |column: fn(&ChainDraws) -> &[f64]| {
            fit.chains().iter().flat_map(move |chain| {
                (0..longest).map(move |draw| column(chain).get(draw).copied().unwrap_or(f64::NAN))
            })
        };
        let iterations = fit.chains().iter().flat_map(|chain| {
            (0..longest).map(|draw| chain.iterations().get(draw).map_or(0, |iteration| *iteration as i64))
        });
        let mut log_posterior = padded(ChainDraws::log_posterior);
        self.add(&mut contents, fit, (FIRST[0].into(), &[], &[]), Elements::Floats(&mut log_posterior))?;
        let mut weights = padded(ChainDraws::weights);
        self.add(&mut contents, fit, (FIRST[1].into(), &[], &[]), Elements::Floats(&mut weights))?;
        let mut iterations = iterations;
        self.add(&mut contents, fit, (FIRST[2].into(), &[], &[]), Elements::Integers(&mut iterations))?;
        let stats = stat_names(fit);
        let plain: Vec<String> = stats.iter().map(|name| plain(name)).collect();
        let names = unique(plain.iter().map(String::as_str), &[&DIMENSIONS[..], &FIRST].concat());
        for (stat, name) in stats.iter().zip(names) {
            let mut values = fit.chains().iter().flat_map(|chain| {
                let column = chain.stat(stat).unwrap_or_default();
                (0..longest).map(move |draw| column.get(draw).copied().unwrap_or(f64::NAN))
            });
            self.add(&mut contents, fit, (name, &[], &[]), Elements::Floats(&mut values))?;
        }
        self.file.group(&contents.links, &borrowed(attributes))
    }

    /// Writes a group other than the draws. Arrays whose dimensions differ from those of an array before them get
    /// dimensions of their own.
    fn other(&mut self, group: &Group, attributes: &[NamedAttribute]) -> io::Result<Address> {
        let mut contents = Contents { links: Vec::new(), scales: HashMap::new() };
        let mut known: HashMap<String, usize> = HashMap::new();
        let names: Vec<String> = group.variables.iter().map(|variable| plain(&variable.name)).collect();
        for (variable, name) in group.variables.iter().zip(&names) {
            let Variable { dimensions, shape, values, .. } = variable;
            let mut scales = Vec::new();
            for (dimension, size) in dimensions.iter().zip(shape) {
                let mut dimension = plain(dimension);
                if names.contains(&dimension) || known.get(&dimension).is_some_and(|known| known != size) {
                    dimension = format!("{name}_{dimension}");
                }
                known.insert(dimension.clone(), *size);
                scales.push(self.scale(&mut contents, &Axis::new(dimension), *size)?);
            }
            let sizes: Vec<u64> = shape.iter().map(|size| *size as u64).collect();
            let list = [("DIMENSION_LIST", Attribute::Scales(scales))];
            let list = if sizes.is_empty() { &[][..] } else { &list };
            let address = self.file.array(&sizes, Elements::Floats(&mut values.iter().copied()), list)?;
            contents.links.push((name.clone(), address));
        }
        self.file.group(&contents.links, &borrowed(attributes))
    }

    /// Begins a group of draws with their two dimensions.
    fn draws(&mut self, fit: &Fit) -> io::Result<Contents> {
        let mut contents = Contents { links: Vec::new(), scales: HashMap::new() };
        for (name, size) in DIMENSIONS.into_iter().zip([fit.chains().len(), longest(fit)]) {
            self.scale(&mut contents, &Axis::new(name), size)?;
        }
        Ok(contents)
    }

    /// Adds an array of draws with a name, the axes and the shape of one draw.
    fn add(
        &mut self,
        contents: &mut Contents,
        fit: &Fit,
        (name, axes, sizes): (String, &[Axis], &[usize]),
        elements: Elements<'_>,
    ) -> io::Result<()> {
        let draws = DIMENSIONS.map(Axis::new).into_iter().zip([fit.chains().len(), longest(fit)]);
        let all: Vec<(Axis, usize)> = draws.chain(axes.iter().cloned().zip(sizes.iter().copied())).collect();
        let scales = all.iter().map(|(axis, size)| self.scale(contents, axis, *size)).collect::<io::Result<_>>()?;
        let shape: Vec<u64> = all.iter().map(|(_, size)| *size as u64).collect();
        let address = self.file.array(&shape, elements, &[("DIMENSION_LIST", Attribute::Scales(scales))])?;
        contents.links.push((name, address));
        Ok(())
    }

    /// Returns the dimension scale of an axis. Its values are the labels or the indices of the positions.
    fn scale(&mut self, contents: &mut Contents, axis: &Axis, size: usize) -> io::Result<Address> {
        if let Some(scale) = contents.scales.get(&axis.name) {
            return Ok(*scale);
        }
        let attributes = [
            ("CLASS", Attribute::Terminated("DIMENSION_SCALE".to_owned())),
            ("NAME", Attribute::Terminated(axis.name.clone())),
            ("_Netcdf4Dimid", Attribute::Index(self.dimensions)),
        ];
        self.dimensions += 1;
        let elements = if axis.labels.is_empty() {
            Elements::Integers(&mut (0..size as i64))
        } else {
            Elements::Texts(&axis.labels)
        };
        let address = self.file.array(&[size as u64], elements, &attributes)?;
        contents.scales.insert(axis.name.clone(), address);
        contents.links.push((axis.name.clone(), address));
        Ok(address)
    }
}

/// Returns the number of draws of the longest chain.
fn longest(fit: &Fit) -> usize {
    fit.chains().iter().map(ChainDraws::len).max().unwrap_or(0)
}

//! The corpus: valid files of every format, of a few kilobytes each.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit, RunInfo};
use sgmcmc_gradient::{Columns, Layout};
use sgmcmc_models::topics;
use sgmcmc_storage::{
    fits::{self, draws_csv::CsvDraws},
    mapped,
};

use crate::checkpoint;
use crate::targets::Reader;

/// A valid file or directory and its reader.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The reader.
    pub reader: Reader,
    /// The path of the file or directory.
    pub path: PathBuf,
    /// The files of the directory, or the file itself.
    pub files: Vec<PathBuf>,
}

/// Writes the corpus to `directory`.
///
/// # Errors
///
/// Returns an error if a file cannot be written.
pub fn write(directory: &Path) -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut seeds = Vec::new();
    let mut seed = |reader: Reader, name: &str| {
        let path = directory.join(name);
        let files = if path.is_dir() { below(&path) } else { vec![path.clone()] };
        seeds.push(Seed { reader, path, files });
    };
    for format in fits::formats().filter(|format| format.can_save() && format.can_open()) {
        let name = format!("fit.{}", format.extension());
        fits::save(&fit()?, directory.join(&name))?;
        seed(Reader::Fit, &name);
    }
    stream(directory)?;
    seed(Reader::Fit, "run.sgmcmc");
    seed(Reader::Fit, "run.parquet");
    seed(Reader::Fit, "draws.csv");
    seed(Reader::Fit, "draws");
    small_zarr(&directory.join("small.zarr"))?;
    seed(Reader::Fit, "small.zarr");

    let table = "a,b,c,d\n1,2.5,red,0\n-3,1e-3,blue,1\n4,NA,\"gr,een\",1\n5,6,red,0\n";
    put(directory, "table.csv", table.as_bytes())?;
    seed(Reader::Csv, "table.csv");
    put(directory, "table.csv.gz", &gzip(table.as_bytes())?)?;
    seed(Reader::Csv, "table.csv.gz");
    put(directory, "table.txt", b"1 2  3\n\t4 5 6 \n# note\n7 8 9\n")?;
    seed(Reader::Spaced, "table.txt");
    let rows = "+1 1:0.5 3:2 7:1e3\n-1 2:1 # note\n1 1:1 2:2 3:3\n";
    put(directory, "rows.libsvm", rows.as_bytes())?;
    seed(Reader::Libsvm, "rows.libsvm");
    put(directory, "rows.libsvm.gz", &gzip(rows.as_bytes())?)?;
    seed(Reader::Libsvm, "rows.libsvm.gz");
    let idx = [&[0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3][..], &[7; 24]].concat();
    put(directory, "images.idx", &idx)?;
    seed(Reader::Idx, "images.idx");
    put(directory, "images.idx.gz", &gzip(&idx)?)?;
    seed(Reader::Idx, "images.idx.gz");
    put(directory, "array.npy", &npy())?;
    seed(Reader::Npy, "array.npy");
    put(directory, "arrays.npz", &npz()?)?;
    seed(Reader::Npz, "arrays.npz");
    put(directory, "table.parquet", &fs::read(directory.join("fit.parquet"))?)?;
    seed(Reader::Parquet, "table.parquet");
    let data = Columns::new().leaf("x", vec![0.5_f32; 12], [6, 2])?.leaf("y", vec![1_i64; 6], [6])?;
    mapped::create(directory.join("data.mapped"), data.as_slice())?;
    seed(Reader::Mapped, "data.mapped");

    put(directory, "data.json", br#"{"N": 3, "index": [1, 2, 1], "y": [0.5, "NaN", -1e3], "z": [[1, 2], [3, 4]]}"#)?;
    seed(Reader::Json, "data.json");
    let journal = checkpoint::journal(layout()?)?;
    put(directory, "chain.journal", &journal)?;
    seed(Reader::Journal, "chain.journal");
    fs::create_dir_all(directory.join("checkpoints"))?;
    put(directory, "checkpoints/chain-0.checkpoint", &checkpoint::state(&journal)?)?;
    put(directory, "checkpoints/chain-0.journal", &journal)?;
    seed(Reader::Fit, "checkpoints");
    models(directory)?;
    for (reader, name) in [
        (Reader::Uci, "docword.txt"),
        (Reader::LdaC, "documents.ldac"),
        (Reader::Text, "documents.txt"),
        (Reader::Corpus, "corpus"),
        (Reader::Ratings, "ratings.dat"),
    ] {
        seed(reader, name);
    }
    Ok(seeds)
}

/// Writes the files of models.
fn models(directory: &Path) -> Result<(), Box<dyn Error>> {
    put(directory, "docword.txt", b"2\n3\n3\n1 1 2\n1 3 1\n2 2 1\n")?;
    topics::uci(directory.join("docword.txt")).write(directory.join("corpus"))?;
    put(directory, "documents.ldac", b"2 0:2 2:1\n1 1:1\n")?;
    put(directory, "documents.txt", "the sun and the moon\nna\u{ef}ve suns, moons\n".as_bytes())?;
    put(directory, "ratings.dat", b"1::1193::5::978300760\n2::661::3::978302109\n2::1193::4::978302109\n")?;
    Ok(())
}

fn layout() -> Result<Layout, sgmcmc_gradient::Error> {
    Layout::new([("mu".into(), vec![1], None), ("W".into(), vec![2, 2], None), ("odd, name".into(), vec![3], None)])
}

/// Calls `take` with draw number `index` of a chain.
pub(crate) fn draw<T>(chain: usize, index: usize, take: impl FnOnce(&Draw<'_>) -> T) -> T {
    let values: Vec<f64> = (0..8).map(|element| ((chain * 31 + index * 7 + element * 13) % 17) as f64 - 8.25).collect();
    let iteration = 10 + index as u64;
    take(&Draw { iteration, values: &values, weight: 0.01, log_posterior: -1.5, stats: &[index as f64] })
}

fn fit() -> Result<Fit, sgmcmc_gradient::Error> {
    let mut chains = Vec::new();
    for (number, draws) in [6, 4].into_iter().enumerate() {
        let mut chain = ChainDraws::new(8, vec!["alpha".into()]);
        (0..draws).try_for_each(|index| draw(number, index, |draw| chain.push(draw)))?;
        chains.push(chain);
    }
    let info = RunInfo { algorithm: "SGLD".into(), seed: 7, ..RunInfo::default() };
    Ok(Fit::new(layout()?, chains)?.with_outcomes(vec![ChainOutcome::Complete, ChainOutcome::Stopped])?.with_info(info))
}

/// Writes the files of a streaming run.
fn stream(directory: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(directory.join("run.sgmcmc"))?;
    fs::create_dir_all(directory.join("draws"))?;
    for chain in 0..2 {
        let native = fits::native::NativeDraws::new(directory.join(format!("run.sgmcmc/chain-{chain}.sgmcmc")));
        let text = CsvDraws::new(directory.join(format!("draws/draws-{chain}.csv")));
        let mut sink = ((native, text), fits::parquet::ParquetDraws::new(directory.join("run.parquet")));
        sink.begin(&Schema { layout: layout()?, draws: 10, chain, chains: 2, stats: vec!["alpha".into()] })?;
        for index in 0..5 {
            draw(chain, index, |draw| sink.record(draw))?;
        }
        sink.flush()?;
        sink.finish();
    }
    fs::copy(directory.join("draws/draws-0.csv"), directory.join("draws.csv"))?;
    Ok(())
}

/// Writes a store like those of other programs, with small compressed chunks.
fn small_zarr(directory: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(directory.join("posterior/x/c/0"))?;
    let group = r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;
    put(directory, "zarr.json", group.as_bytes())?;
    put(directory, "posterior/zarr.json", group.as_bytes())?;
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [1, 6], "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 4]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0.5,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 1}}],
        "dimension_names": ["chain", "draw"]}"#;
    put(directory, "posterior/x/zarr.json", array.as_bytes())?;
    for chunk in 0..2 {
        let numbers: Vec<u8> = (0..4_u8).flat_map(|number| f32::from(number * 3 + chunk).to_le_bytes()).collect();
        put(directory, &format!("posterior/x/c/0/{chunk}"), &gzip(&numbers)?)?;
    }
    Ok(())
}

/// Returns a NumPy array in Fortran order.
fn npy() -> Vec<u8> {
    let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }\n";
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    (0..6).for_each(|number| bytes.extend(f64::from(number).to_le_bytes()));
    bytes
}

/// Returns a NumPy archive with two compression methods.
fn npz() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, method) in [("x.npy", zip::CompressionMethod::Deflated), ("y.npy", zip::CompressionMethod::Stored)] {
        archive.start_file(name, zip::write::SimpleFileOptions::default().compression_method(method))?;
        archive.write_all(&npy())?;
    }
    Ok(archive.finish()?.into_inner())
}

pub(crate) fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn put(directory: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    fs::write(directory.join(name), bytes)
}

/// Returns all files below a directory.
fn below(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|entry| if entry.is_dir() { below(&entry) } else { vec![entry] }).collect()
}

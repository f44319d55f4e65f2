//! Writes the corpus of the fuzz targets: `cargo run -p sgmcmc-fuzzing --bin corpus -- fuzz/corpus`.

use std::error::Error;
use std::fs;
use std::path::Path;

use sgmcmc_fuzzing::corpus::{self, Seed};
use sgmcmc_fuzzing::pack::pack;
use sgmcmc_fuzzing::targets::Reader;

/// The maximal size of an input in the repository.
const LARGEST: usize = 16 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).ok_or("give the directory to write to")?;
    let scratch = tempfile::tempdir()?;
    for Seed { reader, path, files } in corpus::write(scratch.path())? {
        let directory = match reader {
            Reader::Fit if path.is_dir() => "fit_directory".to_owned(),
            Reader::Spaced => "csv".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        let directory = Path::new(&target).join(directory);
        fs::create_dir_all(&directory)?;
        let bytes = if path.is_dir() { pack(&path, &files)? } else { fs::read(&path)? };
        // The chunks of the stores of this library are large. The small store replaces them.
        if bytes.len() > LARGEST {
            continue;
        }
        fs::write(directory.join(path.file_name().unwrap_or_default()), bytes)?;
    }
    // Lists of changes (offset: u16, value: u8) of a valid checkpoint; numbers and seeds of random closures.
    let words = |name: &str, inputs: &[&[u8]]| {
        let directory = Path::new(&target).join(name);
        fs::create_dir_all(&directory)?;
        inputs.iter().enumerate().try_for_each(|(number, input)| fs::write(directory.join(number.to_string()), input))
    };
    words("checkpoint", &[&[0, 0, 0], &[16, 0, 255, 40, 0, 1], &[200, 1, 127]])?;
    words("importer", &[&[3, 1, 0, 0, 0, 0, 0, 0, 0], &[11, 7, 0, 0, 0, 0, 0, 0, 0], &[23, 2, 1, 0, 0, 0, 0, 0, 0]])?;
    let arguments = Path::new(&target).join("arguments");
    fs::create_dir_all(&arguments)?;
    for (number, line) in [
        "summary fit.zarr beta --format csv",
        "check -q fit",
        "report fit -o a.html --limit 3 --title t",
        "convert a b.json -f",
    ]
    .iter()
    .enumerate()
    {
        fs::write(arguments.join(number.to_string()), line.replace(' ', "\0"))?;
    }
    Ok(())
}

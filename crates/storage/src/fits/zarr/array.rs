//! The metadata of arrays, version 2 and 3.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The compression of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zlib,
    Zstd,
}

/// The type of the elements, with their size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Float(usize),
    Int(usize),
    Uint(usize),
    Bool,
}

/// The shape of an array and the encoding of its chunks.
#[derive(Debug)]
pub(super) struct ArrayInfo {
    pub(super) shape: Vec<u64>,
    pub(super) chunk: Vec<u64>,
    pub(super) dimensions: Option<Vec<String>>,
    element: Element,
    little_endian: bool,
    fill: f64,
    /// The compressions in the order of decoding.
    compressions: Vec<Compression>,
    /// The text before the subscripts in the key of a chunk.
    prefix: &'static str,
    /// The character between the subscripts in the key of a chunk.
    separator: char,
}

impl ArrayInfo {
    /// Reads the metadata of the array in `directory`. Returns `None` if the directory is not an array.
    pub(super) fn read(directory: &Path) -> Option<Result<Self, String>> {
        let parse = |name: &str| -> Option<Value> {
            let text = std::fs::read(directory.join(name)).ok()?;
            Some(serde_json::from_slice(&text).unwrap_or(Value::Null))
        };
        if let Some(metadata) = parse("zarr.json") {
            // A coordinate has the name of its dimension. It may consist of texts.
            if metadata["dimension_names"][0].as_str() == directory.file_name().and_then(|name| name.to_str()) {
                return None;
            }
            return (metadata["node_type"] != "group").then(|| Self::version_3(&metadata));
        }
        let metadata = parse(".zarray")?;
        Some(Self::version_2(&metadata, &parse(".zattrs").unwrap_or(Value::Null)))
    }

    fn version_3(metadata: &Value) -> Result<Self, String> {
        let grid = &metadata["chunk_grid"];
        if grid["name"] != "regular" {
            return Err(format!("its chunk grid is {}, only `regular` is read", grid["name"]));
        }
        let encoding = &metadata["chunk_key_encoding"];
        let separator = encoding["configuration"]["separator"].as_str().and_then(|text| text.chars().next());
        let (prefix, separator) = match encoding["name"].as_str().or(encoding.as_str()) {
            Some("default") => ("c", separator.unwrap_or('/')),
            Some("v2") => ("", separator.unwrap_or('.')),
            other => return Err(format!("its chunk keys are {other:?}, only `default` and `v2` are read")),
        };
        let (mut little_endian, mut compressions) = (true, Vec::new());
        for (position, codec) in metadata["codecs"].as_array().into_iter().flatten().enumerate() {
            match (codec["name"].as_str().unwrap_or_default(), position) {
                ("bytes", 0) => little_endian = codec["configuration"]["endian"] != "big",
                ("gzip", 1..) => compressions.insert(0, Compression::Gzip),
                ("zstd", 1..) => compressions.insert(0, Compression::Zstd),
                (other, _) => return Err(format!("the codec `{other}` is none of bytes, gzip and zstd")),
            }
        }
        let names = metadata["dimension_names"].as_array();
        let kind = metadata["data_type"].as_str().unwrap_or_default();
        let digits = kind.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let size = digits.parse::<usize>().unwrap_or(8) / 8;
        let element = element(kind.trim_end_matches(|c: char| c.is_ascii_digit()), size)
            .ok_or_else(|| format!("`{kind}` is not a type of numbers"))?;
        Ok(Self {
            shape: sizes(&metadata["shape"])?,
            chunk: sizes(&grid["configuration"]["chunk_shape"])?,
            dimensions: names.and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect()),
            element,
            little_endian,
            fill: fill(&metadata["fill_value"]),
            compressions,
            prefix,
            separator,
        })
    }

    fn version_2(metadata: &Value, attributes: &Value) -> Result<Self, String> {
        let compressions = match metadata["compressor"]["id"].as_str() {
            None => Vec::new(),
            Some("gzip") => vec![Compression::Gzip],
            Some("zlib") => vec![Compression::Zlib],
            Some("zstd") => vec![Compression::Zstd],
            Some(other) => return Err(format!("the compressor `{other}` is none of gzip, zlib and zstd")),
        };
        if metadata["order"] == "F" || metadata["filters"].as_array().is_some_and(|filters| !filters.is_empty()) {
            return Err("arrays in Fortran order or with filters are not read".into());
        }
        let kind = metadata["dtype"].as_str().unwrap_or_default();
        let plain = kind.trim_start_matches(['<', '>', '|', '=']);
        let element = plain
            .split_at_checked(1)
            .and_then(|(kind, size)| {
                let size = size.parse().ok()?;
                element(["float", "int", "uint", "bool"].into_iter().find(|name| name.starts_with(kind))?, size)
            })
            .ok_or_else(|| format!("`{kind}` is not a type of numbers"))?;
        let names = attributes["_ARRAY_DIMENSIONS"].as_array();
        let separator = metadata["dimension_separator"].as_str().and_then(|text| text.chars().next());
        Ok(Self {
            shape: sizes(&metadata["shape"])?,
            chunk: sizes(&metadata["chunks"])?,
            dimensions: names.and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect()),
            element,
            little_endian: !kind.starts_with('>'),
            fill: fill(&metadata["fill_value"]),
            compressions,
            prefix: "",
            separator: separator.unwrap_or('.'),
        })
    }

    /// Returns the file of a chunk.
    pub(super) fn chunk_file(&self, directory: &Path, index: &[u64]) -> PathBuf {
        let subscripts: Vec<String> = index.iter().map(u64::to_string).collect();
        let mut key = subscripts.join(&self.separator.to_string());
        if !self.prefix.is_empty() {
            key = format!("{}{}{key}", self.prefix, self.separator);
        }
        directory.join(key)
    }

    /// Reads the `count` numbers of a chunk. A missing chunk has the fill value everywhere. The caller has checked the
    /// memory limit.
    pub(super) fn read_chunk(&self, directory: &Path, index: &[u64], count: usize) -> Result<Vec<f64>, String> {
        let file = self.chunk_file(directory, index);
        let stored = match std::fs::read(&file) {
            Ok(stored) => stored,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![self.fill; count]),
            Err(error) => return Err(format!("chunk {index:?}: {error}")),
        };
        let expected = count.saturating_mul(self.element.size());
        let mut bytes = stored;
        for compression in &self.compressions {
            bytes = decompress(*compression, &bytes, expected).map_err(|error| format!("chunk {index:?}: {error}"))?;
        }
        if bytes.len() != expected {
            return Err(format!("chunk {index:?} has {} bytes instead of {expected}", bytes.len()));
        }
        Ok(bytes.chunks_exact(self.element.size()).map(|bytes| self.number(bytes)).collect())
    }

    /// Decodes a number.
    fn number(&self, bytes: &[u8]) -> f64 {
        let mut eight = [0; 8];
        let used = &mut eight[..bytes.len()];
        used.copy_from_slice(bytes);
        if !self.little_endian {
            used.reverse();
        }
        let word = u64::from_le_bytes(eight);
        match self.element {
            Element::Float(8) => f64::from_bits(word),
            Element::Float(_) => f64::from(f32::from_bits(word as u32)),
            Element::Uint(_) => word as f64,
            Element::Bool => f64::from(word != 0),
            // The shifts extend the sign bit of a shorter integer.
            Element::Int(size) => (((word << (64 - 8 * size)) as i64) >> (64 - 8 * size)) as f64,
        }
    }
}

impl Element {
    fn size(self) -> usize {
        match self {
            Self::Float(size) | Self::Int(size) | Self::Uint(size) => size,
            Self::Bool => 1,
        }
    }
}

fn element(kind: &str, size: usize) -> Option<Element> {
    match (kind, size) {
        ("float", 4 | 8) => Some(Element::Float(size)),
        ("int", 1 | 2 | 4 | 8) => Some(Element::Int(size)),
        ("uint", 1 | 2 | 4 | 8) => Some(Element::Uint(size)),
        ("bool", _) => Some(Element::Bool),
        _ => None,
    }
}

fn sizes(value: &Value) -> Result<Vec<u64>, String> {
    let sizes = value.as_array().and_then(|sizes| sizes.iter().map(Value::as_u64).collect());
    sizes.ok_or_else(|| "its shape is not a list of sizes".to_owned())
}

fn fill(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64().unwrap_or(0.0),
        Value::Bool(value) => f64::from(*value),
        Value::String(text) => match text.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => 0.0,
        },
        _ => 0.0,
    }
}

/// Decompresses a chunk to at most one byte more than `expected`.
fn decompress(compression: Compression, stored: &[u8], expected: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than expected shows that the chunk is too long.
    let limit = expected as u64 + 1;
    match compression {
        Compression::Gzip => flate2::read::MultiGzDecoder::new(stored).take(limit).read_to_end(&mut bytes)?,
        Compression::Zlib => flate2::read::ZlibDecoder::new(stored).take(limit).read_to_end(&mut bytes)?,
        Compression::Zstd => zstd::stream::read::Decoder::new(stored)?.take(limit).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}

/// Returns the metadata of an array of version 3 with uncompressed little-endian chunks.
pub(super) fn metadata(shape: &[u64], chunk: &[u64], integer: bool, dimensions: &[String]) -> Value {
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": if integer { "int64" } else { "float64" },
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": if integer { json!(0) } else { json!("NaN") },
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {},
        "dimension_names": dimensions,
    })
}

/// Returns the key of a chunk of an array that is written.
pub(super) fn chunk_key(array: &str, index: &[u64]) -> String {
    index.iter().fold(format!("{array}/c"), |key, subscript| format!("{key}/{subscript}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn stored(metadata: &str, chunk: &str, bytes: &[u8], count: usize) -> Result<Vec<f64>, String> {
        let directory = tempfile::tempdir().unwrap();
        let name = if metadata.contains("\"zarr_format\": 2") { ".zarray" } else { "zarr.json" };
        std::fs::write(directory.path().join(name), metadata).unwrap();
        let file = directory.path().join(chunk);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
        let info = ArrayInfo::read(directory.path()).unwrap()?;
        info.read_chunk(directory.path(), &vec![0; info.shape.len()], count)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn chunks_of_other_writers_are_read() {
        let version_3 = r#"{"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "int16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": 7,
            "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip"}]}"#;
        let bytes = [0, 1, 255, 255, 1, 0];
        assert_eq!(stored(version_3, "c/0", &gzip(&bytes), 3).unwrap(), [1.0, -1.0, 256.0]);
        assert_eq!(stored(version_3, "c/1", &[], 3).unwrap(), [7.0; 3], "the chunk is missing");
        assert!(stored(version_3, "c/0", &gzip(&[0; 1 << 20]), 3).unwrap_err().contains("instead of 6"));
        let version_2 = r#"{"zarr_format": 2, "shape": [2, 1], "chunks": [2, 1], "dtype": "<f4", "order": "C",
            "compressor": {"id": "zstd"}, "filters": null, "fill_value": null}"#;
        let bytes = [1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat();
        let compressed = zstd::stream::encode_all(&bytes[..], 1).unwrap();
        assert_eq!(stored(version_2, "0.0", &compressed, 2).unwrap(), [1.5, -2.0]);
        assert!(stored(&version_2.replace("zstd", "blosc"), "0.0", &compressed, 2).unwrap_err().contains("blosc"));
    }
}

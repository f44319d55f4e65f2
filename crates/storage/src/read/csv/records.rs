//! The records of a text file. The `csv` crate reads delimited files, and files with white space are read line by line.

use std::cell::Cell;
use std::io::{BufRead, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use csv::ByteRecord;

use super::Separator;
use crate::error::{Error, FilePosition, Problem, Result};
use crate::limit::{LINE_SHARE, exceeded};
use crate::read::Part;
use crate::source::{Lines, Metered, open, open_detecting_gzip, open_plain, read_line};

/// The format of the records of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) separator: Separator,
    pub(super) comment: Option<u8>,
    /// The number of lines to skip at the start.
    pub(super) skip: u64,
}

/// A reader of records.
pub(super) struct Records<'a> {
    path: &'a Path,
    format: Format,
    kind: Kind<'a>,
    record: ByteRecord,
    /// The line of the record, if the file is read line by line.
    line: u64,
    /// The number of bytes in the skipped lines.
    skipped: u64,
    shift: Shift,
    limit: u64,
    /// The number of bytes that the next record may take.
    allowance: Rc<Cell<u64>>,
}

enum Kind<'a> {
    Delimited(csv::Reader<Metered<Box<dyn BufRead>>>),
    Spaced(Lines<'a>),
}

impl<'a> Records<'a> {
    pub(super) fn open(path: &'a Path, format: Format, part: Option<Part>, header: bool, limit: u64) -> Result<Self> {
        let (reader, skipped, shift) = match part {
            None => {
                let mut reader = open(path)?;
                let skipped = skip_lines(path, reader.as_mut(), format.skip, limit / LINE_SHARE)?;
                (reader, skipped, Shift::default())
            }
            Some(part) => open_part(path, format, part, header, limit / LINE_SHARE)?,
        };
        let allowance = Rc::new(Cell::new(limit / LINE_SHARE));
        let kind = match format.separator {
            Separator::Byte(delimiter) => {
                let mut builder = csv::ReaderBuilder::new();
                builder.has_headers(false).flexible(true).delimiter(delimiter).comment(format.comment);
                Kind::Delimited(builder.from_reader(Metered::new(reader, Rc::clone(&allowance))))
            }
            Separator::Whitespace => Kind::Spaced(Lines::new(path, reader, format.skip).with_limit(limit)),
        };
        Ok(Self { path, format, kind, record: ByteRecord::new(), line: format.skip, skipped, shift, limit, allowance })
    }

    /// Sets the number of bytes that the cells use so far, from which the maximal size of the next record follows.
    ///
    /// # Errors
    ///
    /// Returns an error if `used` exceeds the limit.
    pub(super) fn set_used(&mut self, used: u64) -> Result<()> {
        match self.limit.checked_sub(used) {
            Some(left) => {
                self.allowance.set((left / LINE_SHARE).max(1));
                Ok(())
            }
            None => Err(Error::at_position(self.path, FilePosition::line(self.line()), exceeded(self.limit))),
        }
    }

    /// Reads the next record, and returns `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<&ByteRecord>> {
        match &mut self.kind {
            Kind::Delimited(reader) => match reader.read_byte_record(&mut self.record) {
                Ok(true) => Ok(Some(&self.record)),
                Ok(false) => Ok(None),
                Err(error) => {
                    let line = reader.position().line() + self.format.skip;
                    let problem = match error.into_kind() {
                        csv::ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
                            exceeded(self.limit)
                        }
                        csv::ErrorKind::Io(error) => Problem::reading(error),
                        other => Problem::Corrupt { detail: format!("{other:?}") },
                    };
                    Err(Error::at_position(self.path, FilePosition::line(line), problem))
                }
            },
            Kind::Spaced(lines) => {
                while let Some((line, text)) = lines.next_line()? {
                    let text = text.trim_ascii_start();
                    if text.is_empty() || text.first().copied() == self.format.comment {
                        continue;
                    }
                    self.line = line;
                    self.record.clear();
                    text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).for_each(|field| {
                        self.record.push_field(field);
                    });
                    return Ok(Some(&self.record));
                }
                Ok(None)
            }
        }
    }

    /// Returns the current record.
    pub(super) fn current(&self) -> &ByteRecord {
        &self.record
    }

    /// Returns the line at which the current record starts.
    ///
    /// The position of the `csv` crate does not count the blank lines and comments before a record. The file is
    /// therefore read again to find the line. This happens only for errors.
    pub(super) fn line(&self) -> u64 {
        match (&self.kind, self.record.position()) {
            (Kind::Delimited(_), Some(position)) => self
                .find_line(self.shift.offset(position.byte()) + self.skipped)
                .unwrap_or(position.line() + self.format.skip),
            _ => self.line,
        }
    }

    fn find_line(&self, offset: u64) -> Option<u64> {
        let mut reader = open(self.path).ok()?;
        let (mut end, mut number, mut line) = (0_u64, 0, Vec::new());
        loop {
            let start = end;
            let length =
                read_line(&mut reader, &mut line, self.limit / LINE_SHARE).ok().filter(|length| *length > 0)?;
            end += length as u64;
            number += 1;
            let rest = &line[usize::try_from(offset.saturating_sub(start)).unwrap_or(length).min(length)..];
            let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
            let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
            if end > offset && !rest.is_empty() && rest.first().copied() != self.format.comment {
                return Some(number);
            }
        }
    }
}

/// The distance between a part of a file and its header.
#[derive(Clone, Copy, Debug, Default)]
struct Shift {
    /// The length of the header in bytes.
    header: u64,
    /// The number of bytes between the header and the part.
    gap: u64,
}

impl Shift {
    /// Returns the offset in the file, after the skipped lines, of a byte of the stream.
    fn offset(self, byte: u64) -> u64 {
        if byte < self.header { byte } else { byte + self.gap }
    }
}

/// Opens the header and a part of the lines of a file. Returns the stream, the number of skipped bytes before it, and the distance
/// of the part from the header.
fn open_part(
    path: &Path,
    format: Format,
    part: Part,
    header: bool,
    longest: u64,
) -> Result<(Box<dyn BufRead>, u64, Shift)> {
    let fail = |problem| Error::file(path, problem);
    let wrong =
        |what, value: &str, range: &str| fail(Problem::OutOfRange { what, value: value.into(), range: range.into() });
    if !matches!(format.separator, Separator::Byte(_)) {
        return Err(wrong("the separator of a part", "white space", "use a file with a separator of one byte"));
    }
    let (mut reader, compressed) = open_detecting_gzip(path)?;
    if compressed {
        return Err(wrong("the format of a part", "gzip", "a part is read from a file without compression"));
    }
    let skipped = skip_lines(path, reader.as_mut(), format.skip, longest)?;
    // Comments before the header belong to it.
    let mut head = Vec::new();
    let mut before_names = header;
    while before_names {
        let mut line = Vec::new();
        let length = read_line(&mut reader, &mut line, longest).map_err(fail)?;
        head.extend_from_slice(&line);
        let comment = format.comment.is_some() && line.first().copied() == format.comment;
        before_names = length > 0 && (comment || line.trim_ascii().is_empty());
    }
    let begin = skipped + head.len() as u64;
    let mut file = open_plain(path)?;
    let end = file.seek(SeekFrom::End(0)).map_err(|error| fail(Problem::reading(error)))?;
    let bytes = part.of(end.saturating_sub(begin)).map_err(fail)?;
    let mut line_at = |offset: u64| -> Result<u64> {
        if offset == 0 {
            return Ok(begin);
        }
        // The line that contains the byte before the range belongs to the part before.
        file.seek(SeekFrom::Start(begin + offset - 1)).map_err(|error| fail(Problem::reading(error)))?;
        let length = read_line(&mut file, &mut Vec::new(), longest).map_err(fail)?;
        Ok(begin + offset - 1 + length as u64)
    };
    let (start, stop) = (line_at(bytes.start)?, line_at(bytes.end)?);
    file.seek(SeekFrom::Start(start)).map_err(|error| fail(Problem::reading(error)))?;
    let shift = Shift { header: head.len() as u64, gap: start - begin };
    let lines = std::io::Cursor::new(head).chain(file.take(stop.saturating_sub(start)));
    Ok((Box::new(lines), skipped, shift))
}

/// Skips `count` lines and returns their length in bytes.
fn skip_lines(path: &Path, reader: &mut dyn BufRead, count: u64, longest: u64) -> Result<u64> {
    let (mut bytes, mut line) = (0, Vec::new());
    for number in 1..=count {
        let length = read_line(reader, &mut line, longest)
            .map_err(|problem| Error::at_position(path, FilePosition::line(number), problem))?;
        if length == 0 {
            break;
        }
        bytes += length as u64;
    }
    Ok(bytes)
}

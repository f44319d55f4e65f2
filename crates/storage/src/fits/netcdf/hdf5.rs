//! A writer of HDF5 files, the container of netCDF-4.
//!
//! It writes what a file of arrays needs: groups with links in their headers, contiguous arrays of numbers, lists of texts,
//! and attributes. References and texts of variable length are in a global heap. The structures are those of version 2
//! of the format (HDF5 File Format Specification 3.0), which every library since HDF5 1.8 reads:
//!
//! ```text
//! file   = superblock (48 bytes)  arrays, heaps and object headers in any order
//! header = "OHDR" 2 flags size messages… checksum        (messages: type, size, flags, content)
//! ```
//!
//! Objects are written before the groups that link to them, so that all addresses are known; the superblock is
//! completed at the end.

use std::io::{self, Seek, SeekFrom, Write};

use super::checksum::checksum;

/// The address that means "nowhere".
const UNDEFINED: u64 = u64::MAX;
/// The length of the superblock.
const SUPERBLOCK: u64 = 48;
/// The smallest size of a heap that libraries accept.
const HEAP: usize = 4096;

/// The position of an object in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address(u64);

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(super) enum Attribute {
    /// A text.
    Text(String),
    /// A text that ends with a zero byte in a field of fixed length, as dimension scales have it.
    Terminated(String),
    Number(f64),
    /// An integer of 32 bits.
    Index(i32),
    /// A list of texts.
    Texts(Vec<String>),
    /// The dimension scales of an array, one for each dimension.
    Scales(Vec<Address>),
}

/// The numbers of an array.
pub(super) enum Elements<'a> {
    Floats(&'a mut dyn Iterator<Item = f64>),
    Integers(&'a mut dyn Iterator<Item = i64>),
    Texts(&'a [String]),
}

/// The writer of one file.
pub(super) struct Hdf5<W> {
    file: W,
    end: u64,
}

impl<W: Write + Seek> Hdf5<W> {
    /// Begins a file.
    pub(super) fn new(mut file: W) -> io::Result<Self> {
        file.write_all(&[0; SUPERBLOCK as usize])?;
        Ok(Self { file, end: SUPERBLOCK })
    }

    /// Writes an array in row-major order.
    pub(super) fn array(
        &mut self,
        shape: &[u64],
        elements: Elements<'_>,
        attributes: &[(&str, Attribute)],
    ) -> io::Result<Address> {
        let count = shape.iter().product::<u64>();
        let (datatype, size, data) = match elements {
            Elements::Floats(values) => {
                let start = self.end;
                let written = self.numbers(values.map(f64::to_le_bytes))?;
                (FLOAT.to_vec(), check_count(written, count)? * 8, start)
            }
            Elements::Integers(values) => {
                let start = self.end;
                let written = self.numbers(values.map(i64::to_le_bytes))?;
                (INTEGER.to_vec(), check_count(written, count)? * 8, start)
            }
            Elements::Texts(texts) => {
                check_count(texts.len() as u64, count)?;
                let references =
                    self.heap(texts.iter().map(|text| (text.len(), text.as_bytes().to_vec())).collect())?;
                let start = self.append(&references)?;
                (TEXT.to_vec(), references.len() as u64, start)
            }
        };
        let data = if size == 0 { UNDEFINED } else { data };
        // Space is allocated late and filled if a fill value is set, as for arrays of this kind by default.
        let mut messages = vec![
            (0x01, dataspace(shape)),
            (0x03, datatype),
            (0x05, vec![3, 0x0a]),
            (0x08, [&[3, 1][..], &data.to_le_bytes(), &size.to_le_bytes()].concat()),
        ];
        self.attributes(attributes, &mut messages)?;
        self.header(&messages)
    }

    /// Writes a group with links to objects.
    pub(super) fn group(
        &mut self,
        links: &[(String, Address)],
        attributes: &[(&str, Attribute)],
    ) -> io::Result<Address> {
        let no_heaps = [&[0, 0][..], &UNDEFINED.to_le_bytes(), &UNDEFINED.to_le_bytes()].concat();
        let mut messages = vec![(0x02, no_heaps), (0x0a, vec![0, 0])];
        for (name, Address(address)) in links {
            let length = short(name.len())?.to_le_bytes();
            // A hard link with a name in UTF-8, whose length has two bytes.
            let link = [&[1, 0x11, 1][..], &length, name.as_bytes(), &address.to_le_bytes()].concat();
            messages.push((0x06, link));
        }
        self.attributes(attributes, &mut messages)?;
        self.header(&messages)
    }

    /// Completes the file, whose root is the group `root`.
    pub(super) fn finish(mut self, Address(root): Address) -> io::Result<()> {
        let mut block = b"\x89HDF\r\n\x1a\n".to_vec();
        // Version 2, addresses and lengths of 8 bytes, no flags; the base address, no extension, the end, the root.
        block.extend([2, 8, 8, 0]);
        [0, UNDEFINED, self.end, root].iter().for_each(|number| block.extend(number.to_le_bytes()));
        block.extend(checksum(&block).to_le_bytes());
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&block)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        Ok(())
    }

    /// Appends bytes and pads them to a multiple of 8. Returns their address.
    fn append(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let start = self.end;
        self.file.write_all(bytes)?;
        self.file.write_all(&[0; 7][..padding(bytes.len())])?;
        self.end += (bytes.len() + padding(bytes.len())) as u64;
        Ok(start)
    }

    /// Appends numbers of 8 bytes and returns how many there are.
    fn numbers(&mut self, numbers: impl Iterator<Item = [u8; 8]>) -> io::Result<u64> {
        let mut count = 0;
        for number in numbers {
            self.file.write_all(&number)?;
            count += 1;
        }
        self.end += 8 * count;
        Ok(count)
    }

    /// Writes parts of variable length to heaps. Returns the references to them: the number of elements, the address of
    /// the heap, and the index in it.
    fn heap(&mut self, parts: Vec<(usize, Vec<u8>)>) -> io::Result<Vec<u8>> {
        let mut references = Vec::with_capacity(16 * parts.len());
        let mut rest = &parts[..];
        while !rest.is_empty() {
            let (mut objects, mut entries) = (Vec::new(), Vec::new());
            // An index has 16 bits. Smaller heaps are read faster.
            for (index, (elements, bytes)) in rest.iter().take(4096).enumerate() {
                if bytes.is_empty() {
                    entries.push((0_u32, 0_u32));
                    continue;
                }
                let index = index as u16 + 1;
                objects.extend(index.to_le_bytes());
                objects.extend([1, 0, 0, 0, 0, 0]);
                objects.extend((bytes.len() as u64).to_le_bytes());
                objects.extend_from_slice(bytes);
                objects.extend_from_slice(&[0; 7][..padding(bytes.len())]);
                entries.push((word(*elements)?, u32::from(index)));
            }
            rest = &rest[entries.len()..];
            // The head of the heap and that of the free space at its end have 16 bytes each.
            let size = (objects.len() + 32).max(HEAP);
            let mut heap = [&b"GCOL\x01\0\0\0"[..], &(size as u64).to_le_bytes(), &objects].concat();
            heap.extend([0; 8]);
            let free = size - objects.len() - 16;
            heap.extend((free as u64).to_le_bytes());
            heap.resize(size, 0);
            let address = self.append(&heap)?;
            for (elements, index) in entries {
                references.extend(elements.to_le_bytes());
                references.extend(if index == 0 { 0 } else { address }.to_le_bytes());
                references.extend(index.to_le_bytes());
            }
        }
        Ok(references)
    }

    /// Appends the messages of attributes.
    fn attributes(&mut self, attributes: &[(&str, Attribute)], messages: &mut Vec<(u8, Vec<u8>)>) -> io::Result<()> {
        for (name, value) in attributes {
            let texts = |texts: &[String]| texts.iter().map(|text| (text.len(), text.as_bytes().to_vec())).collect();
            let (datatype, dataspace, data) = match value {
                Attribute::Text(text) => {
                    (TEXT.to_vec(), SCALAR.to_vec(), self.heap(texts(std::slice::from_ref(text)))?)
                }
                Attribute::Terminated(text) => {
                    let data = [text.as_bytes(), &[0]].concat();
                    let datatype = [&[0x13, 0, 0, 0][..], &word(data.len())?.to_le_bytes()].concat();
                    (datatype, SCALAR.to_vec(), data)
                }
                Attribute::Number(number) => (FLOAT.to_vec(), SCALAR.to_vec(), number.to_le_bytes().to_vec()),
                Attribute::Index(number) => (SMALL_INTEGER.to_vec(), SCALAR.to_vec(), number.to_le_bytes().to_vec()),
                Attribute::Texts(list) => {
                    (TEXT.to_vec(), self::dataspace(&[list.len() as u64]), self.heap(texts(list))?)
                }
                Attribute::Scales(scales) => {
                    let parts = scales.iter().map(|Address(scale)| (1, scale.to_le_bytes().to_vec())).collect();
                    (REFERENCES.to_vec(), self::dataspace(&[scales.len() as u64]), self.heap(parts)?)
                }
            };
            let lengths = [name.len() + 1, datatype.len(), dataspace.len()];
            let mut message = vec![3, 0];
            for length in lengths {
                message.extend(short(length)?.to_le_bytes());
            }
            // Names are in UTF-8.
            message.push(1);
            message.extend([name.as_bytes(), &[0], &datatype, &dataspace, &data].concat());
            messages.push((0x0c, message));
        }
        Ok(())
    }

    /// Writes an object header.
    fn header(&mut self, messages: &[(u8, Vec<u8>)]) -> io::Result<Address> {
        let mut content = Vec::new();
        for (kind, message) in messages {
            content.push(*kind);
            content.extend(short(message.len())?.to_le_bytes());
            content.push(0);
            content.extend_from_slice(message);
        }
        // The flags give the size of the messages four bytes.
        let mut header = [&b"OHDR\x02\x02"[..], &word(content.len())?.to_le_bytes(), &content].concat();
        header.extend(checksum(&header).to_le_bytes());
        Ok(Address(self.append(&header)?))
    }
}

/// The datatype message of a little-endian IEEE number of 64 bits.
const FLOAT: [u8; 20] = [0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0];
/// The datatype message of a signed little-endian integer of 64 bits.
const INTEGER: [u8; 12] = [0x10, 0x08, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0];
/// The datatype message of a signed little-endian integer of 32 bits.
const SMALL_INTEGER: [u8; 12] = [0x10, 0x08, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0];
/// The datatype message of a text of variable length in UTF-8.
const TEXT: [u8; 16] = [0x19, 0x01, 0x01, 0, 16, 0, 0, 0, 0x13, 0x10, 0, 0, 1, 0, 0, 0];
/// The datatype message of a list of references to objects.
const REFERENCES: [u8; 16] = [0x19, 0, 0, 0, 16, 0, 0, 0, 0x17, 0, 0, 0, 8, 0, 0, 0];
/// The dataspace message of a single value.
const SCALAR: [u8; 4] = [2, 0, 0, 0];

/// Returns the dataspace message of an array.
fn dataspace(shape: &[u64]) -> Vec<u8> {
    if shape.is_empty() {
        return SCALAR.to_vec();
    }
    let mut message = vec![2, shape.len() as u8, 0, 1];
    shape.iter().for_each(|size| message.extend(size.to_le_bytes()));
    message
}

/// Returns the number of bytes from `length` to the next multiple of 8.
fn padding(length: usize) -> usize {
    length.next_multiple_of(8) - length
}

fn check_count(found: u64, expected: u64) -> io::Result<u64> {
    if found == expected {
        return Ok(found);
    }
    Err(io::Error::other(format!("an array of {expected} elements has {found}")))
}

/// Returns a length as a number of 16 bits.
fn short(length: usize) -> io::Result<u16> {
    u16::try_from(length).map_err(|_| io::Error::other("a name or an attribute is too long for netCDF"))
}

/// Returns a length as a number of 32 bits.
fn word(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(|_| io::Error::other("there are too many names for netCDF"))
}

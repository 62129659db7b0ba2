//! V2 checkpoints: an index of tensors, and their bytes in one or more data files.

use super::extent::{Extent, elements, extents, shape};
use super::keys::slice_key;
use super::table::{Table, read_exactly};
use super::{Assembly, STRING, Tensor, Values, dtype, file, name_file, with_suffix};
use crate::error::{Error, Kind, Result};
use crate::input::RandomAccess;
use crate::input::crc::{extend_crc32c, mask};
use crate::proto::wire::{Field, Fields, varint};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where the bytes of a tensor or a slice are.
#[derive(Debug, Clone, Default)]
struct Entry {
    dtype: i64,
    shape: Vec<u64>,
    shard: u32,
    offset: u64,
    bytes: u64,
    crc: u32,
    slices: Vec<Vec<Extent>>,
    /// Offset of the index block that lists it.
    block: u64,
}

/// The index, and the data files that were opened so far.
pub struct Bundle {
    prefix: PathBuf,
    shards: u32,
    swaps: bool,
    entries: BTreeMap<String, Entry>,
    slices: HashMap<Vec<u8>, Entry>,
    files: Mutex<HashMap<u32, Arc<RandomAccess>>>,
}

impl Bundle {
    /// Reads the index of a checkpoint.
    pub fn open(prefix: &Path) -> Result<(Bundle, Vec<Tensor>)> {
        let index = with_suffix(prefix, ".index");
        Self::read(prefix, &index).map_err(|error| name_file(&index, error))
    }

    fn read(prefix: &Path, index: &Path) -> Result<(Bundle, Vec<Tensor>)> {
        let table = Table::open(file(index).random()?)?;
        let mut bundle = Bundle {
            prefix: prefix.to_owned(),
            shards: 0,
            swaps: false,
            entries: BTreeMap::new(),
            slices: HashMap::new(),
            files: Mutex::default(),
        };
        let mut room = table.room();
        for block in 0..table.blocks() {
            for found in table.entries(block, &mut room)? {
                let at = |error: Error| Error {
                    seen: format!("{} under {:?}", error.seen, String::from_utf8_lossy(&found.key)),
                    offset: Some(found.block),
                    ..error
                };
                match found.key.first() {
                    None => bundle.header(&found.value).map_err(at)?,
                    Some(0) => {
                        let entry = entry(&found.value, found.block).map_err(at)?;
                        bundle.slices.insert(found.key.clone(), entry);
                    }
                    Some(_) => {
                        let entry = entry(&found.value, found.block).map_err(at)?;
                        let name = String::from_utf8_lossy(&found.key).into_owned();
                        bundle.entries.insert(name, entry);
                    }
                }
            }
        }
        if bundle.shards == 0 {
            return Err(Error::at(Kind::Damaged, 0, "the index has no header"));
        }
        let tensors = bundle.entries.iter().map(|(name, entry)| bundle.tensor(name, entry));
        let tensors = tensors.collect();
        Ok((bundle, tensors))
    }

    fn header(&mut self, bytes: &[u8]) -> Result<()> {
        for field in Fields::new(bytes, 0) {
            let field = field?;
            match field.number {
                1 => self.shards = field.u64().unwrap_or_default() as u32,
                2 => self.swaps = field.u64() == Some(1),
                _ => {}
            }
        }
        match self.shards {
            0 => Err(Error::new(Kind::Damaged, "a header without data files")),
            _ => Ok(()),
        }
    }

    fn tensor(&self, name: &str, entry: &Entry) -> Tensor {
        let part = |slice: &Vec<Extent>| self.slices.get(&slice_key(name.as_bytes(), slice));
        let bytes = match entry.slices.is_empty() {
            true => Some(entry.bytes),
            false => entry.slices.iter().try_fold(0u64, |sum, slice| sum.checked_add(part(slice)?.bytes)),
        };
        Tensor {
            name: name.to_owned(),
            dtype: entry.dtype,
            shape: entry.shape.clone(),
            bytes,
            slices: entry.slices.len().max(1),
        }
    }

    /// The values of a tensor.
    pub fn values(&self, tensor: &Tensor) -> Result<Values> {
        let Some(entry) = self.entries.get(&tensor.name) else {
            return Err(Error::new(Kind::Damaged, "it is not in the index"));
        };
        if entry.slices.is_empty() {
            let count = elements(&entry.shape).unwrap_or(u64::MAX);
            return self.part(entry, count);
        }
        let mut parts = Vec::new();
        let mut available = 0u64;
        for slice in &entry.slices {
            let part = self.slices.get(&slice_key(tensor.name.as_bytes(), slice));
            let part = part.filter(|part| part.dtype == entry.dtype).ok_or_else(|| {
                let seen = "a slice that the index does not have";
                Error::at(Kind::Damaged, entry.block, seen)
            })?;
            // The sizes in the index are believed only as far as there are files.
            let (_, data) = self.data(part.shard)?;
            available = available.saturating_add(part.bytes.min(data.len()));
            parts.push((slice, part));
        }
        let mut whole = Assembly::new(tensor, available)?;
        for (slice, part) in parts {
            let count = shape(&entry.shape, slice).and_then(|shape| elements(&shape));
            let values = self.part(part, count.unwrap_or(u64::MAX))?;
            whole.put(slice, values)?;
        }
        whole.finish()
    }

    /// Tensors whose values are not where the index says: in a file that is missing or ends before them. Each
    /// tensor is reported once, with the first of its parts that is missing.
    pub fn absent(&self) -> Vec<(String, Error)> {
        let mut found = Vec::new();
        for (name, entry) in &self.entries {
            let slices = entry.slices.iter();
            let mut parts: Vec<Option<&Entry>> =
                slices.map(|slice| self.slices.get(&slice_key(name.as_bytes(), slice))).collect();
            if entry.slices.is_empty() {
                parts.push(Some(entry));
            }
            let wrong = parts.into_iter().find_map(|part| match part {
                Some(part) => self.place(part).err(),
                None => {
                    let seen = "a slice that the index does not have";
                    Some(Error::at(Kind::Damaged, entry.block, seen))
                }
            });
            found.extend(wrong.map(|error| (name.clone(), error)));
        }
        found
    }

    /// The file of an entry, which reaches to its end.
    fn place(&self, entry: &Entry) -> Result<(PathBuf, Arc<RandomAccess>)> {
        let (path, data) = self.data(entry.shard)?;
        let end = entry.offset.checked_add(entry.bytes);
        if end.is_none_or(|end| end > data.len()) {
            let seen = format!(
                "the file is cut short: {} bytes should stand there, and it ends at {}",
                entry.bytes,
                data.len()
            );
            let error = Error::at(Kind::Damaged, entry.offset, seen);
            return Err(name_file(&path, error));
        }
        Ok((path, data))
    }

    fn data(&self, shard: u32) -> Result<(PathBuf, Arc<RandomAccess>)> {
        let suffix = format!(".data-{shard:05}-of-{:05}", self.shards);
        let path = with_suffix(&self.prefix, &suffix);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = files.get(&shard) {
            return Ok((path, Arc::clone(data)));
        }
        let data = file(&path).random().map_err(|error| name_file(&path, error))?;
        let data = Arc::new(data);
        files.insert(shard, Arc::clone(&data));
        Ok((path, data))
    }

    /// Bytes of one entry, checked.
    fn part(&self, entry: &Entry, count: u64) -> Result<Values> {
        let (path, data) = self.place(entry)?;
        let wrong = |offset: u64, seen: String| name_file(&path, Error::at(Kind::Damaged, offset, seen));
        let element = dtype::element_bytes(entry.dtype);
        if element.is_some_and(|element| element.checked_mul(count) != Some(entry.bytes)) {
            let seen = format!("{} bytes do not fit {count} elements", entry.bytes);
            return Err(wrong(entry.offset, seen));
        }
        let mut bytes = vec![0; entry.bytes as usize];
        read_exactly(&data, entry.offset, &mut bytes).map_err(|error| name_file(&path, error))?;
        if entry.dtype == STRING {
            return texts(&bytes, count, entry.crc)
                .map(Values::Texts)
                .map_err(|(at, seen)| wrong(entry.offset + at as u64, seen.into()));
        }
        if mask(extend_crc32c(0, &bytes)) != entry.crc {
            return Err(wrong(entry.offset, "the checksum does not fit".into()));
        }
        if self.swaps {
            // Complex numbers are two numbers.
            let unit = match entry.dtype {
                8 | 18 => element.unwrap_or(2) / 2,
                _ => element.unwrap_or(1),
            };
            bytes.chunks_exact_mut(unit as usize).for_each(<[u8]>::reverse);
        }
        Ok(Values::Fixed(bytes))
    }
}

/// Texts: their lengths, a checksum of those, then the texts. The entry's checksum covers all, with each
/// length taken as a number of four bytes.
fn texts(bytes: &[u8], count: u64, wanted: u32) -> std::result::Result<Vec<Vec<u8>>, (usize, &'static str)> {
    if count > bytes.len() as u64 {
        return Err((0, "fewer bytes than texts"));
    }
    let (mut at, mut crc) = (0, 0);
    let mut lengths = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let length = varint(bytes, &mut at).ok_or((at, "a length of a text that is cut short"))?;
        crc = match u32::try_from(length) {
            Ok(short) => extend_crc32c(crc, &short.to_le_bytes()),
            Err(_) => extend_crc32c(crc, &length.to_le_bytes()),
        };
        lengths.push(length);
    }
    let check = bytes.get(at..at + 4).ok_or((at, "lengths of texts without their checksum"))?;
    if mask(crc).to_le_bytes() != check {
        return Err((at, "the checksum of the texts' lengths does not fit"));
    }
    crc = extend_crc32c(crc, check);
    at += 4;
    let mut found = Vec::with_capacity(lengths.len());
    for length in lengths {
        let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
        let text = end.and_then(|end| bytes.get(at..end)).ok_or((at, "a text that is cut short"))?;
        crc = extend_crc32c(crc, text);
        found.push(text.to_vec());
        at += text.len();
    }
    match mask(crc) == wanted && at == bytes.len() {
        true => Ok(found),
        false => Err((0, "the checksum of the texts does not fit")),
    }
}

fn entry(bytes: &[u8], block: u64) -> Result<Entry> {
    let mut entry = Entry { block, ..Entry::default() };
    for field in Fields::new(bytes, 0) {
        let field = field?;
        match field.number {
            1 => entry.dtype = field.i64().unwrap_or_default(),
            2 => entry.shape = dims(&field)?,
            3 => entry.shard = field.u64().unwrap_or_default() as u32,
            4 => entry.offset = field.u64().unwrap_or_default(),
            5 => entry.bytes = field.u64().unwrap_or_default(),
            6 => {
                if let crate::proto::wire::Value::Fixed32(crc) = field.value {
                    entry.crc = crc;
                }
            }
            7 => entry.slices.push(extents(&field)?),
            _ => {}
        }
    }
    Ok(entry)
}

/// A shape without unknown dimensions.
pub fn dims(shape: &Field<'_>) -> Result<Vec<u64>> {
    let mut dims = Vec::new();
    for field in shape.message().into_iter().flatten() {
        let field = field?;
        if field.number != 2 {
            continue;
        }
        let mut size = 0;
        for part in field.message().into_iter().flatten() {
            let part = part?;
            if part.number == 1 {
                size = part.i64().unwrap_or_default();
            }
        }
        let size =
            u64::try_from(size).map_err(|_| Error::new(Kind::Damaged, format!("a dimension of {size}")))?;
        dims.push(size);
    }
    Ok(dims)
}

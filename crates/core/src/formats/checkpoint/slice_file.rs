//! V1 checkpoints: tables whose first entry lists the tensors and whose others hold their slices.

use super::bundle::dims;
use super::extent::{Extent, elements, extents, shape};
use super::keys::slice_key;
use super::table::{Table, is_table};
use super::{Assembly, Tensor, Values, dtype, file, name_file};
use crate::error::{Error, Kind, Result};
use crate::proto::wire::{Field, Fields};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of a checkpoint, and which slices each tensor has.
pub struct SliceFiles {
    files: Vec<(PathBuf, Table)>,
    /// Slices by tensor, each with its file.
    slices: BTreeMap<String, Vec<(usize, Vec<Extent>)>>,
}

impl SliceFiles {
    /// Opens a file, or all files `PATH-00000-of-00002` and so on.
    pub fn open(path: &Path) -> Result<(SliceFiles, Vec<Tensor>)> {
        let mut files = Vec::new();
        let mut tensors: BTreeMap<String, Tensor> = BTreeMap::new();
        let mut slices: BTreeMap<String, Vec<(usize, Vec<Extent>)>> = BTreeMap::new();
        for (number, path) in parts(path)?.into_iter().enumerate() {
            let table = open(&path).map_err(|error| name_file(&path, error))?;
            let listed = list(&table).map_err(|error| name_file(&path, error))?;
            for (tensor, found) in listed {
                let own = slices.entry(tensor.name.clone()).or_default();
                own.extend(found.into_iter().map(|slice| (number, slice)));
                let slices = own.len();
                tensors.entry(tensor.name.clone()).or_insert(tensor).slices = slices;
            }
            files.push((path, table));
        }
        Ok((SliceFiles { files, slices }, tensors.into_values().collect()))
    }

    /// The values of a tensor.
    pub fn values(&self, tensor: &Tensor) -> Result<Values> {
        let slices = self.slices.get(&tensor.name).map_or(&[][..], Vec::as_slice);
        let available: u64 = self.files.iter().map(|(_, table)| table.file().len()).sum();
        // Packed numbers take a byte or more each, and blocks may be packed once more; each text has a field.
        let room = if tensor.dtype == super::STRING { 1 } else { 64 };
        let mut whole = Assembly::new(tensor, available.saturating_mul(room))?;
        for (number, slice) in slices {
            let (path, table) = &self.files[*number];
            let values = part(table, tensor, slice).map_err(|error| name_file(path, error))?;
            whole.put(slice, values)?;
        }
        whole.finish()
    }
}

/// The file itself, or the files of a checkpoint in several.
fn parts(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let missing = || {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Error::new(Kind::Io, format!("there is no checkpoint {name}"))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let prefix = format!("{}-", path.file_name().unwrap_or_default().to_string_lossy());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|_| missing())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let numbers = name.strip_prefix(&prefix).and_then(|rest| rest.split_once("-of-"));
        let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
        if numbers.is_some_and(|(number, count)| is_number(number) && is_number(count)) {
            found.push(entry.path());
        }
    }
    found.sort();
    match found.is_empty() {
        true => Err(missing()),
        false => Ok(found),
    }
}

fn open(path: &Path) -> Result<Table> {
    let random = file(path).random()?;
    if !is_table(&random)? {
        return Err(Error::at(
            Kind::NotThisFormat,
            random.len().saturating_sub(8),
            "the file does not end as a checkpoint does: it is cut short or something else",
        ));
    }
    Table::open(random)
}

/// The tensors of a file with their slices.
fn list(table: &Table) -> Result<Vec<(Tensor, Vec<Vec<Extent>>)>> {
    let entry = table.find(b"")?;
    let entry = entry.ok_or_else(|| Error::at(Kind::Damaged, 0, "the list of tensors is missing"))?;
    let mut found = Vec::new();
    for field in Fields::new(&entry.value, 0) {
        let field = field?;
        if field.number != 1 {
            continue;
        }
        for tensor in field.message().into_iter().flatten() {
            let tensor = tensor?;
            if tensor.number == 1 {
                found.push(listed(&tensor)?);
            }
        }
    }
    Ok(found)
}

fn listed(field: &Field<'_>) -> Result<(Tensor, Vec<Vec<Extent>>)> {
    let (mut name, mut dtype, mut shape, mut slices) = (String::new(), 0, Vec::new(), Vec::new());
    for part in field.message().into_iter().flatten() {
        let part = part?;
        match part.number {
            1 => name = part.text().unwrap_or_default().into_owned(),
            2 => shape = dims(&part)?,
            3 => dtype = part.i64().unwrap_or_default(),
            4 => slices.push(extents(&part)?),
            _ => {}
        }
    }
    let bytes = dtype::element_bytes(dtype);
    let bytes = bytes.and_then(|bytes| elements(&shape)?.checked_mul(bytes));
    let tensor = Tensor { name, dtype, shape, bytes, slices: slices.len() };
    Ok((tensor, slices))
}

fn part(table: &Table, tensor: &Tensor, slice: &[Extent]) -> Result<Values> {
    // A scalar has no dimension to be cut in, but its key counts one.
    let key = slice_key(tensor.name.as_bytes(), slice);
    let entry = table.find(&key)?;
    let entry = entry.ok_or_else(|| Error::at(Kind::Damaged, 0, "a slice that the table does not have"))?;
    let count = shape(&tensor.shape, slice).and_then(|shape| elements(&shape));
    let count = count
        .ok_or_else(|| Error::at(Kind::Damaged, entry.block, "a slice that reaches out of its tensor"))?;
    for field in Fields::new(&entry.value, 0) {
        let field = field?;
        if field.number != 2 {
            continue;
        }
        for inner in field.message().into_iter().flatten() {
            let inner = inner?;
            if inner.number == 3 {
                return values(&inner, tensor.dtype, count)
                    .map_err(|error| Error { offset: Some(entry.block), ..error });
            }
        }
    }
    Err(Error::at(Kind::Damaged, entry.block, "a slice without values"))
}

/// The values of a `TensorProto`, in which the last one is that of all elements left out.
fn values(proto: &Field<'_>, dtype: i64, count: u64) -> Result<Values> {
    let element = dtype::element_bytes(dtype).unwrap_or(0) as usize;
    let (mut texts, mut bytes) = (Vec::new(), Vec::new());
    let mut low = |value: u64, size: usize| bytes.extend_from_slice(&value.to_le_bytes()[..size]);
    let mut content = None;
    for field in proto.message().into_iter().flatten() {
        let field = field?;
        match field.number {
            4 => content = field.bytes().map(<[u8]>::to_vec),
            5 | 9 => fixed(&field, 4, |value| low(value, 4))?,
            6 | 12 => fixed(&field, 8, |value| low(value, 8))?,
            7 | 10 | 11 | 13 | 16 | 17 => {
                for value in field.varints() {
                    low(value?, element.min(8));
                }
            }
            8 => texts.extend(field.bytes().map(<[u8]>::to_vec)),
            18 => field.bytes().into_iter().flatten().for_each(|byte| low(u64::from(*byte), 1)),
            _ => {}
        }
    }
    let missing = || Error::new(Kind::Damaged, "fewer values than the shape has elements");
    let count = usize::try_from(count).map_err(|_| missing())?;
    if dtype == super::STRING {
        let last = texts.last().cloned().unwrap_or_default();
        if texts.is_empty() && count > 0 || texts.len() > count {
            return Err(missing());
        }
        texts.resize(count, last);
        return Ok(Values::Texts(texts));
    }
    let mut bytes = content.unwrap_or(bytes);
    let wanted = count.checked_mul(element).ok_or_else(missing)?;
    if bytes.len() > wanted || (bytes.len() < element && count > 0) {
        return Err(missing());
    }
    let last = bytes[bytes.len().saturating_sub(element)..].to_vec();
    while bytes.len() < wanted {
        bytes.extend_from_slice(&last);
    }
    match bytes.len() == wanted {
        true => Ok(Values::Fixed(bytes)),
        false => Err(missing()),
    }
}

/// Numbers of a fixed size, packed or single.
fn fixed(field: &Field<'_>, size: usize, mut take: impl FnMut(u64)) -> Result<()> {
    match field.value {
        crate::proto::wire::Value::Fixed32(value) if size == 4 => take(u64::from(value)),
        crate::proto::wire::Value::Fixed64(value) if size == 8 => take(value),
        crate::proto::wire::Value::Bytes(bytes) => {
            let numbers = bytes.chunks_exact(size);
            if !numbers.remainder().is_empty() {
                return Err(Error::at(Kind::Damaged, field.offset, "numbers that are cut short"));
            }
            numbers.for_each(|number| {
                take(number.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
            });
        }
        _ => {}
    }
    Ok(())
}

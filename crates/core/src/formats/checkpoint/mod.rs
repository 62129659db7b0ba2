//! Checkpoints of TensorFlow, V1 and V2: names, shapes, types, and values on demand.
//!
//! A V2 checkpoint ([`bundle`]) is an index and data files beside it; a V1 checkpoint ([`slice_file`]) keeps
//! the values in the table itself. Listing reads only the index; a value reads its own bytes and checks them.

mod bundle;
pub mod dtype;
mod extent;
mod keys;
mod slice_file;
mod snappy;
mod sniff;
mod table;
pub mod text;

use super::Format;
use crate::error::{Error, Kind, Result};
use crate::input::{Codec, Input};
use std::io::Read;
use std::path::{Path, PathBuf};

pub use sniff::{Version, sniff, version};

/// The entry of checkpoints in the list of formats: listed, not decoded.
pub const FORMAT: Format = Format { name: "checkpoint", sniff, decode: None, lazy: None };

/// A tensor as the index has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Its name; bytes that are not UTF-8 were replaced.
    pub name: String,
    /// TensorFlow's number of its type: [`dtype::name`].
    pub dtype: i64,
    /// Its shape; none of it is unknown.
    pub shape: Vec<u64>,
    /// Bytes that its values take in the checkpoint; None where only the values themselves show it.
    pub bytes: Option<u64>,
    /// Parts it was saved in: 1, or more for a partitioned variable.
    pub slices: usize,
}

/// Values of a tensor in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Elements of a fixed size, little-endian, one after the other.
    Fixed(Vec<u8>),
    /// Texts.
    Texts(Vec<Vec<u8>>),
}

/// A checkpoint whose index was read.
pub struct Checkpoint {
    kind: CheckpointKind,
    tensors: Vec<Tensor>,
}

enum CheckpointKind {
    Bundle(bundle::Bundle),
    Slices(slice_file::SliceFiles),
}

fn file(path: &Path) -> Input {
    Input::file(path.to_owned(), 0, None, Codec::Plain)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Puts a file's name before what was seen in it.
fn name_file(path: &Path, error: Error) -> Error {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Error { seen: format!("{name}: {}", error.seen), ..error }
}

impl Checkpoint {
    /// Opens a checkpoint by its prefix (`model.ckpt-14`), by one of its files, or by its folder, whose
    /// `checkpoint` file names the latest.
    pub fn open(path: &Path) -> Result<Checkpoint> {
        let path = match path.is_dir() {
            true => &latest(path)?,
            false => path,
        };
        let text = path.to_string_lossy();
        let prefix = text.strip_suffix(".index").or_else(|| Some(text.rsplit_once(".data-")?.0));
        let prefix = prefix.map_or_else(|| path.to_owned(), PathBuf::from);
        if with_suffix(&prefix, ".index").is_file() {
            let (bundle, tensors) = bundle::Bundle::open(&prefix)?;
            let kind = CheckpointKind::Bundle(bundle);
            return Ok(Checkpoint { kind, tensors });
        }
        let (files, tensors) = slice_file::SliceFiles::open(path)?;
        let kind = CheckpointKind::Slices(files);
        Ok(Checkpoint { kind, tensors })
    }

    /// The tensors in the order of their names.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The tensor of a name.
    pub fn find(&self, name: &str) -> Option<&Tensor> {
        let found = self.tensors.binary_search_by(|tensor| tensor.name.as_str().cmp(name));
        found.ok().map(|place| &self.tensors[place])
    }

    /// Tensors whose values are not where the index says, with what is wrong there. A checkpoint that keeps
    /// the values in the table itself has none: it would not open.
    pub fn absent(&self) -> Vec<(String, Error)> {
        match &self.kind {
            CheckpointKind::Bundle(bundle) => bundle.absent(),
            CheckpointKind::Slices(_) => Vec::new(),
        }
    }

    /// The values of a tensor. The error names it, the file and the offset in it.
    pub fn values(&self, tensor: &Tensor) -> Result<Values> {
        let unknown = dtype::element_bytes(tensor.dtype).is_none() && tensor.dtype != STRING;
        let values = match &self.kind {
            _ if unknown => Err(Error::new(
                Kind::Damaged,
                format!("values of type {} cannot be shown", dtype::name(tensor.dtype)),
            )),
            CheckpointKind::Bundle(bundle) => bundle.values(tensor),
            CheckpointKind::Slices(files) => files.values(tensor),
        };
        values.map_err(|error| Error { seen: format!("tensor {}: {}", tensor.name, error.seen), ..error })
    }
}

/// Texts.
pub const STRING: i64 = 7;

/// How much of a `checkpoint` file is read; the latest checkpoint comes first.
const STATE_LIMIT: u64 = 1 << 20;

/// The checkpoint that a folder's `checkpoint` file names.
fn latest(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("checkpoint");
    let mut text = String::new();
    std::fs::File::open(&path)
        .and_then(|file| file.take(STATE_LIMIT).read_to_string(&mut text))
        .map_err(|error| name_file(&path, Error::new(Kind::Io, error.to_string())))?;
    let name = text.lines().find_map(|line| {
        let quoted = line.trim().strip_prefix("model_checkpoint_path:")?.trim();
        Some(quoted.trim_matches('"').to_owned())
    });
    let name =
        name.ok_or_else(|| name_file(&path, Error::at(Kind::Damaged, 0, "no model_checkpoint_path in it")))?;
    // A checkpoint made elsewhere names a folder that is not here: its files are beside this one.
    let base = Path::new(&name).file_name().unwrap_or_default();
    Ok(folder.join(base))
}

/// A tensor of parts under construction.
struct Assembly<'a> {
    shape: &'a [u64],
    element: Option<u64>,
    values: Values,
    left: u64,
}

impl<'a> Assembly<'a> {
    /// Room for a tensor. `available` bounds it: no tensor is larger than what holds it.
    fn new(tensor: &'a Tensor, available: u64) -> Result<Self> {
        let element = dtype::element_bytes(tensor.dtype);
        let count = extent::elements(&tensor.shape).filter(|count| {
            let bytes = count.checked_mul(element.unwrap_or(1));
            bytes.is_some_and(|bytes| bytes <= available)
        });
        let Some(count) = count else {
            let seen = format!("shape {:?} holds more than the {available} bytes there are", tensor.shape);
            return Err(Error::new(Kind::Damaged, seen));
        };
        let values = match element {
            Some(element) => Values::Fixed(vec![0; (count * element) as usize]),
            None => Values::Texts(vec![Vec::new(); count as usize]),
        };
        Ok(Assembly { shape: &tensor.shape, element, values, left: count })
    }

    /// Puts a part in its place.
    fn put(&mut self, extents: &[extent::Extent], part: Values) -> Result<()> {
        let wrong = |seen: &str| Error::new(Kind::Damaged, seen);
        let shape = extent::shape(self.shape, extents)
            .ok_or_else(|| wrong("a slice that reaches out of its tensor"))?;
        let count = extent::elements(&shape).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(count).ok_or_else(|| wrong("slices that overlap"))?;
        match (&mut self.values, part) {
            (Values::Fixed(whole), Values::Fixed(part)) => {
                let element = self.element.unwrap_or(1);
                if part.len() as u64 != count * element {
                    return Err(wrong("a slice whose bytes do not fit its shape"));
                }
                let element = element as usize;
                extent::runs(self.shape, extents, |from, to, count| {
                    let bytes = &part[from * element..(from + count) * element];
                    whole[to * element..(to + count) * element].copy_from_slice(bytes);
                });
            }
            (Values::Texts(whole), Values::Texts(mut part)) => {
                if part.len() as u64 != count {
                    return Err(wrong("a slice whose texts do not fit its shape"));
                }
                extent::runs(self.shape, extents, |from, to, count| {
                    for offset in 0..count {
                        whole[to + offset] = std::mem::take(&mut part[from + offset]);
                    }
                });
            }
            _ => return Err(wrong("a slice of another type than its tensor")),
        }
        Ok(())
    }

    /// The whole.
    fn finish(self) -> Result<Values> {
        match self.left {
            0 => Ok(self.values),
            left => {
                let seen = format!("{left} elements are in none of the slices");
                Err(Error::new(Kind::Damaged, seen))
            }
        }
    }
}

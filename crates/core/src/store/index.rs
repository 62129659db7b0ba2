//! The index of a store in a folder: which files make which table, and where in them each buffer
//! lies, how long it is and what its hash is.
//!
//! One binary file, `tables.index`: eight bytes of magic, the hash (xxh3-64) of the rest, the rest.
//! Numbers are little-endian u64, texts are a length and UTF-8. It is written last and by renaming,
//! so a folder with an index is whole.

use crate::error::{Error, Kind, Result};
use crate::store::packing::Packing;
use crate::store::part::{BATCH_ROWS, Batch, Field, Part, Place, Shape, Stored, StoredFile};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use xxhash_rust::xxh3::xxh3_64;

/// The last byte is the version.
const MAGIC: &[u8; 8] = b"SSSTORE\x01";
/// Name of the index in the folder.
pub const INDEX: &str = "tables.index";
/// Name of the facts in the folder.
pub const FACTS: &str = "facts.json";

/// What an index lists: tables with their parts, in order.
pub struct Listing {
    /// Name and parts of each table and of each dictionary.
    pub tables: Vec<(String, Vec<Arc<Part>>)>,
    /// Text of the facts.
    pub facts: String,
}

/// Writes facts and index of a folder.
pub fn write(folder: &Path, facts: &str, tables: &[(String, Vec<Arc<Part>>)]) -> Result<()> {
    let mut out = Out(Vec::new());
    out.number(xxh3_64(facts.as_bytes()));
    out.number(tables.len() as u64);
    for (name, parts) in tables {
        out.text(name);
        out.number(parts.len() as u64);
        for part in parts {
            out.part(part)?;
        }
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&xxh3_64(&out.0).to_le_bytes());
    bytes.extend_from_slice(&out.0);
    replace(&folder.join(FACTS), facts.as_bytes())?;
    replace(&folder.join(INDEX), &bytes)
}

/// Writes a file under another name and renames it.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let staged = path.with_extension("new");
    std::fs::write(&staged, bytes)?;
    Ok(std::fs::rename(&staged, path)?)
}

/// Reads facts and index of a folder, and sees that the files are there with their sizes.
pub fn read(folder: &Path) -> Result<Listing> {
    let path = folder.join(INDEX);
    let bytes = std::fs::read(&path).map_err(|error| about(&path, &error))?;
    let damaged = || Error::new(Kind::Damaged, format!("{} is not the index of a store", path.display()));
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (hash, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
    if xxh3_64(rest) != u64::from_le_bytes(*hash) {
        return Err(damaged());
    }
    let mut from = In { bytes: rest, folder };
    let facts_hash = from.number()?;
    let tables = from.list(|from| {
        let name = from.text()?;
        let parts = from.list(|from| Ok(Arc::new(from.part()?)))?;
        let same = |part: &Arc<Part>| {
            part.batches.iter().map(|batch| batch.rows).eq(parts[0].batches.iter().map(|batch| batch.rows))
        };
        if parts.is_empty() || !parts.iter().all(same) {
            return Err(damaged());
        }
        Ok((name, parts))
    })?;
    let path = folder.join(FACTS);
    let facts = std::fs::read_to_string(&path).map_err(|error| about(&path, &error))?;
    if xxh3_64(facts.as_bytes()) != facts_hash {
        return Err(Error::new(Kind::Damaged, format!("{} is not what was written", path.display())));
    }
    Ok(Listing { tables, facts })
}

fn about(path: &Path, error: &std::io::Error) -> Error {
    let kind = match error.kind() {
        std::io::ErrorKind::InvalidData => Kind::Damaged,
        _ => Kind::Io,
    };
    Error::new(kind, format!("{}: {error}", path.display()))
}

struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn part(&mut self, part: &Part) -> Result<()> {
        let lost = || Error::new(Kind::Io, "a table in memory cannot go into a folder");
        let file = part.file.as_ref().ok_or_else(lost)?;
        let name = file.path.file_name().and_then(|name| name.to_str()).ok_or_else(lost)?;
        self.text(name);
        self.number(file.bytes);
        self.number(part.fields.len() as u64);
        for field in &part.fields {
            self.text(&field.name);
            self.number(Shape::ALL.iter().position(|shape| *shape == field.shape).unwrap_or_default() as u64);
        }
        self.number(part.batches.len() as u64);
        for batch in &part.batches {
            self.number(batch.rows as u64);
            for column in &batch.columns {
                self.number(column.nulls as u64);
                self.number(u64::from(column.packing.width));
                self.number(column.packing.base as u64);
                self.number(column.packing.step as u64);
                self.number(column.buffers.len() as u64);
                for place in &column.buffers {
                    let Place::File { offset, bytes, hash, .. } = place else {
                        return Err(lost());
                    };
                    self.number(*offset);
                    self.number(*bytes);
                    self.number(*hash);
                }
            }
        }
        Ok(())
    }
}

struct In<'a> {
    bytes: &'a [u8],
    folder: &'a Path,
}

impl In<'_> {
    fn damaged(&self) -> Error {
        Error::new(Kind::Damaged, format!("the index in {} makes no sense", self.folder.display()))
    }

    fn number(&mut self) -> Result<u64> {
        let (number, rest) = self.bytes.split_first_chunk::<8>().ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(u64::from_le_bytes(*number))
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let count = self.number()?;
        // Grows as it is read: a wrong count meets the end of the bytes before it takes memory.
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(each(self)?);
        }
        Ok(list)
    }

    fn text(&mut self) -> Result<String> {
        let length = self.number()? as usize;
        let (text, rest) = self.bytes.split_at_checked(length).ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        String::from_utf8(text.to_vec()).map_err(|_| self.damaged())
    }

    fn part(&mut self) -> Result<Part> {
        let name = self.text()?;
        let bytes = self.number()?;
        let path = self.folder.join(&name);
        let found = std::fs::metadata(&path).map_err(|error| about(&path, &error))?.len();
        if found != bytes {
            return Err(Error::new(
                Kind::Damaged,
                format!("{} holds {found} bytes instead of {bytes}", path.display()),
            ));
        }
        let fields = self.list(|from| {
            let name = from.text()?;
            let shape = *Shape::ALL.get(from.number()? as usize).ok_or_else(|| from.damaged())?;
            Ok(Field { name, shape })
        })?;
        let batches = self.list(|from| {
            let rows = from.number()? as usize;
            if rows == 0 || rows > BATCH_ROWS {
                return Err(from.damaged());
            }
            let mut columns = Vec::new();
            for field in &fields {
                columns.push(from.column(rows, field.shape, bytes)?);
            }
            Ok(Batch { rows, columns })
        })?;
        Ok(Part { fields, batches, file: Some(StoredFile::new(path, bytes)) })
    }

    fn column(&mut self, rows: usize, shape: Shape, file_bytes: u64) -> Result<Stored> {
        let nulls = self.number()? as usize;
        let packing = Packing {
            width: u8::try_from(self.number()?).map_err(|_| self.damaged())?,
            base: self.number()? as i64,
            step: self.number()? as i64,
        };
        if !packing.suits(shape) {
            return Err(self.damaged());
        }
        let buffers = self.list(|from| {
            let (offset, bytes, hash) = (from.number()?, from.number()?, from.number()?);
            let inside = offset.checked_add(bytes).is_some_and(|end| end <= file_bytes);
            if !inside {
                return Err(from.damaged());
            }
            Ok(Place::File { offset, bytes, hash, checked: AtomicBool::new(false) })
        })?;
        let expected = 1 + usize::from(nulls > 0) + usize::from(shape.is_long());
        // Texts may lie in several stretches, anywhere.
        let enough = buffers.len() == expected || (shape.is_long() && buffers.len() > expected);
        let aligned = buffers
            .iter()
            .take(expected - usize::from(shape.is_long()))
            .all(|place| matches!(place, Place::File { offset, .. } if offset.is_multiple_of(8)));
        if nulls > rows || !((enough && aligned) || (buffers.is_empty() && nulls == rows)) {
            return Err(self.damaged());
        }
        Ok(Stored { nulls, packing, buffers })
    }
}

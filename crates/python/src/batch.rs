//! Columns of a batch of rows that Python hands over, by name and type. None of them may hold nulls.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, Int64Array, RecordBatch};
use stepscope_core::error::{Error, Kind, Result};

/// The text of a row.
pub type Text<'a> = Box<dyn Fn(usize) -> &'a str + 'a>;

/// A column of texts, in whichever of Arrow's three forms it comes.
pub fn texts<'a>(batch: &'a RecordBatch, name: &str) -> Result<Text<'a>> {
    let found = column(batch, name)?;
    if let Some(texts) = found.as_string_opt::<i32>() {
        Ok(Box::new(|row| texts.value(row)))
    } else if let Some(texts) = found.as_string_opt::<i64>() {
        Ok(Box::new(|row| texts.value(row)))
    } else if let Some(texts) = found.as_string_view_opt() {
        Ok(Box::new(|row| texts.value(row)))
    } else {
        Err(unfit(name))
    }
}

/// A column of 64-bit integers.
pub fn wide<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Int64Array> {
    column(batch, name)?
        .as_primitive_opt::<Int64Type>()
        .ok_or_else(|| unfit(name))
}

/// A column of any type.
pub fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array> {
    match batch.column_by_name(name) {
        Some(column) if column.null_count() == 0 => Ok(column),
        _ => Err(unfit(name)),
    }
}

/// What is wrong with a column.
pub fn unfit(name: &str) -> Error {
    let seen = format!("no column {name} of the type that is needed, or nulls in it");
    Error::new(Kind::NotThisFormat, seen)
}

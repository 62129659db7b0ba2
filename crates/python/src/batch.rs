//! Columns of a batch of rows that Python hands over, by name and type. They may hold nulls only where it is said.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int64Array, RecordBatch};
use arrow_schema::DataType;
use stepscope_core::error::{Error, Kind, Result};

/// The text of a row.
pub type Text<'a> = Box<dyn Fn(usize) -> &'a str + 'a>;

/// A column of texts, in whichever of Arrow's three forms it comes, or as numbers of texts in one of them.
pub fn texts<'a>(batch: &'a RecordBatch, name: &str) -> Result<Text<'a>> {
    values(column(batch, name)?).ok_or_else(|| unfit(name))
}

/// The texts of a column; those of nulls mean nothing. `None` for a column of something else.
fn values(of: &dyn Array) -> Option<Text<'_>> {
    if let Some(packed) = of.as_dictionary_opt::<Int32Type>() {
        let (text, numbers) = (values(packed.values())?, packed.keys());
        return Some(Box::new(move |row| text(numbers.value(row) as usize)));
    }
    if let Some(texts) = of.as_string_opt::<i32>() {
        Some(Box::new(|row| texts.value(row)))
    } else if let Some(texts) = of.as_string_opt::<i64>() {
        Some(Box::new(|row| texts.value(row)))
    } else {
        let texts = of.as_string_view_opt()?;
        Some(Box::new(|row| texts.value(row)))
    }
}

/// A text of a row, or none.
pub type TextOrNone<'a> = Box<dyn Fn(usize) -> Option<&'a str> + 'a>;

/// The same for a column that may hold nulls.
pub fn nullable_texts<'a>(batch: &'a RecordBatch, name: &str) -> Result<TextOrNone<'a>> {
    let found = batch.column_by_name(name).ok_or_else(|| unfit(name))?;
    if found.data_type() == &DataType::Null {
        return Ok(Box::new(|_| None));
    }
    let text = values(found).ok_or_else(|| unfit(name))?;
    Ok(Box::new(move |row| found.is_valid(row).then(|| text(row))))
}

/// A column of 64-bit integers.
pub fn wide<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Int64Array> {
    column(batch, name)?.as_primitive_opt::<Int64Type>().ok_or_else(|| unfit(name))
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

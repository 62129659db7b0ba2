//! The columns of a row group as arrays of the types that a file has.

use super::{Column, Kind, Source};
use crate::error::{Error, Kind as Failure, Result};
use crate::store::raw::Raw;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, StringArray, new_null_array};
use arrow_schema::DataType;
use std::sync::Arc;

/// The type of a column of that kind.
pub fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::I64 => DataType::Int64,
        Kind::I32 => DataType::Int32,
        Kind::F64 => DataType::Float64,
        Kind::Bool => DataType::Boolean,
        Kind::Text => DataType::Utf8,
    }
}

/// Hands over the values of `rows` rows, in one array or in several: args become text piece by piece.
/// `raw`: the column of the table, if it has one.
pub fn each(
    column: &Column,
    raw: Option<Raw>,
    rows: usize,
    mut take: impl FnMut(ArrayRef) -> Result<()>,
) -> Result<()> {
    let missing = || new_null_array(&data_type(column.kind), rows);
    let (raw, add) = match (&column.source, raw) {
        (Source::Text(text), _) => {
            let only = Arc::new(StringArray::from(vec![text.as_str()]));
            return take(coded(Int32Array::from_value(0, rows), only)?);
        }
        (Source::Number(number), _) => {
            return take(Arc::new(Int64Array::from_value(*number, rows)));
        }
        (Source::Stored(..), None) => return take(missing()),
        (Source::Stored(_, add), Some(raw)) => (raw, *add),
    };
    take(match (raw, column.kind) {
        (Raw::Codes(codes, _), _) if codes.null_count() == rows => missing(),
        (Raw::Values(array), _) if array.null_count() == rows => missing(),
        (Raw::Codes(codes, texts), Kind::Text) => coded(codes, texts)?,
        (Raw::Codes(codes, _), kind) => numbers(&(Arc::new(codes) as ArrayRef), kind, add)?,
        (Raw::Counted(range), kind) => {
            let counted: ArrayRef = Arc::new(Int64Array::from_iter_values(range));
            numbers(&counted, kind, add)?
        }
        (Raw::Values(array), Kind::Text) => match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => array,
            other => return Err(wrong(format!("a value of type {other}"), Kind::Text)),
        },
        (Raw::Values(array), kind) => numbers(&array, kind, add)?,
        (Raw::Lazy(args), Kind::Text) => {
            let mut row = 0;
            while row < rows {
                let texts = args.texts(row)?;
                row += texts.len();
                take(Arc::new(texts))?;
            }
            return Ok(());
        }
        (Raw::Lazy(_), kind) => return Err(wrong("args", kind)),
    })
}

fn wrong(value: impl std::fmt::Display, kind: Kind) -> Error {
    Error::new(Failure::Limit, format!("{value} in a column of {kind:?}, which cannot hold it"))
}

fn coded(codes: Int32Array, texts: ArrayRef) -> Result<ArrayRef> {
    let coded = DictionaryArray::try_new(codes, texts)
        .map_err(|error| Error::new(Failure::Damaged, error.to_string()))?;
    Ok(Arc::new(coded))
}

/// Numbers as the type of a column has them, each with `add` added to it.
fn numbers(array: &ArrayRef, kind: Kind, add: i64) -> Result<ArrayRef> {
    let plus = |value: i64| value.checked_add(add).ok_or_else(|| wrong(value, kind));
    let whole: Int64Array = match array.data_type() {
        found if *found == data_type(kind) && (add == 0 || kind != Kind::I64) => {
            return Ok(Arc::clone(array));
        }
        DataType::Int64 => array.as_primitive::<Int64Type>().try_unary(plus)?,
        DataType::Int32 => {
            let values = array.as_primitive::<Int32Type>();
            values.try_unary(|value| plus(value.into()))?
        }
        DataType::UInt64 => {
            let signed = |value: u64| i64::try_from(value).map_err(|_| wrong(value, kind));
            let values = array.as_primitive::<UInt64Type>();
            values.try_unary(|value| plus(signed(value)?))?
        }
        other => return Err(wrong(format!("a value of type {other}"), kind)),
    };
    Ok(match kind {
        Kind::I64 => Arc::new(whole),
        Kind::I32 => Arc::new(
            whole
                .try_unary::<_, Int32Type, _>(|value| i32::try_from(value).map_err(|_| wrong(value, kind)))?,
        ),
        Kind::F64 => Arc::new(whole.unary::<_, arrow_array::types::Float64Type>(|value| value as f64)),
        Kind::Bool | Kind::Text => return Err(wrong("a number", kind)),
    })
}

//! Python values as cells of a table, and back.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};
use stepscope_core::columns::Cell;
use stepscope_core::store::Value;
use stepscope_core::store::part::Shape;

/// The shape that holds all values of a column; int64 when there is none.
pub fn shape(column: &[Bound<'_, PyAny>]) -> std::result::Result<Shape, String> {
    let mut found = None;
    for item in column.iter().filter(|item| !item.is_none()) {
        let shape = if item.is_instance_of::<PyBool>() {
            Shape::Bool
        } else if item.is_instance_of::<PyInt>() {
            if item.extract::<i64>().is_ok() { Shape::I64 } else { Shape::U64 }
        } else if item.is_instance_of::<PyFloat>() {
            Shape::F64
        } else {
            Shape::Text
        };
        found = match (found, shape) {
            (None, shape) => Some(shape),
            (Some(old), shape) if old == shape => Some(old),
            (Some(Shape::I64 | Shape::F64), Shape::I64 | Shape::F64) => Some(Shape::F64),
            (Some(Shape::I64 | Shape::U64), Shape::I64 | Shape::U64) => Some(Shape::U64),
            (Some(old), shape) => return Err(format!("{old:?} and {shape:?} in one column")),
        };
    }
    Ok(found.unwrap_or(Shape::I64))
}

/// A Python value that fits a shape.
pub fn value(item: &Bound<'_, PyAny>, shape: Shape) -> PyResult<Value> {
    if item.is_none() {
        return Ok(Value::Null);
    }
    Ok(match shape {
        Shape::Bool => Value::Bool(item.extract()?),
        Shape::I64 | Shape::I32 | Shape::Code => Value::I64(item.extract()?),
        Shape::U64 => Value::U64(item.extract()?),
        Shape::F64 => Value::F64(item.extract()?),
        Shape::Text | Shape::Lazy => Value::Text(item.extract()?),
    })
}

/// A value as the core takes it.
pub fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(value) => Cell::I64(i64::from(*value)),
        Value::I64(value) => Cell::I64(*value),
        Value::U64(value) => Cell::U64(*value),
        Value::F64(value) => Cell::F64(*value),
        Value::Text(value) => Cell::Text(value),
    }
}

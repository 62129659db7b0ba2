//! Attributes of graph nodes as JSON: small values in full, large ones in summary.

use crate::formats::checkpoint::dtype::element_bytes;
use crate::json::write::{Object, push_array, push_f32, push_f64, push_i64, push_text};
use crate::proto::messages::data_type_name;
use crate::proto::wire::{Field, Fields};
use std::collections::BTreeMap;

/// Longest string that is kept in full, in bytes.
const TEXT_LIMIT: usize = 1024;
/// Longest list that is kept in full.
const LIST_LIMIT: usize = 256;
/// Most elements of a tensor that are kept.
const TENSOR_LIMIT: usize = 16;

/// The fields of a message that [`crate::proto::walk::check`] has found whole: none can fail.
pub fn fields(bytes: &[u8]) -> impl Iterator<Item = Field<'_>> {
    Fields::new(bytes, 0).map_while(|field| field.ok())
}

/// Appends an `AttrValue`.
pub fn push_attr(out: &mut String, bytes: &[u8]) {
    // It is a oneof: the last field counts.
    let known = |field: &Field<'_>| (1..=10).contains(&field.number);
    match fields(bytes).filter(known).last() {
        Some(field) => push_value(out, &field),
        None => out.push_str("null"),
    }
}

fn push_value(out: &mut String, field: &Field<'_>) {
    let bytes = field.bytes().unwrap_or_default();
    match field.number {
        1 => push_list(out, bytes),
        2 => push_bytes(out, bytes),
        3 => push_i64(out, field.i64().unwrap_or_default()),
        4 => push_f32(out, field.f32().unwrap_or_default()),
        5 => out.push_str(if field.bool().unwrap_or_default() { "true" } else { "false" }),
        6 => push_text(out, &data_type_name(field.i64().unwrap_or_default())),
        7 => push_shape(out, bytes),
        8 => push_tensor(out, bytes),
        10 => push_function(out, bytes),
        _ => {
            let mut object = Object::begin(out);
            push_bytes(object.key("placeholder"), bytes);
            object.end();
        }
    }
}

/// Appends bytes: as text when they are text and not long, else how many there are.
fn push_bytes(out: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= TEXT_LIMIT => push_text(out, text),
        _ => {
            let mut object = Object::begin(out);
            push_i64(object.key("bytes"), bytes.len() as i64);
            object.end();
        }
    }
}

/// Appends a `TensorShapeProto`: sizes, -1 for an unknown one; null when the rank is unknown.
pub fn push_shape(out: &mut String, bytes: &[u8]) {
    match shape(bytes) {
        Some(dims) => push_array(out, dims, push_i64),
        None => out.push_str("null"),
    }
}

/// Sizes of a `TensorShapeProto`; None when the rank is unknown.
pub fn shape(bytes: &[u8]) -> Option<Vec<i64>> {
    let mut dims = Vec::new();
    let mut unknown_rank = false;
    for field in fields(bytes) {
        match (field.number, field.bytes()) {
            (2, Some(dim)) => {
                let size = fields(dim).filter(|inner| inner.number == 1);
                dims.push(size.filter_map(|size| size.i64()).last().unwrap_or(0));
            }
            (3, _) => unknown_rank = field.bool().unwrap_or(unknown_rank),
            _ => {}
        }
    }
    (!unknown_rank).then_some(dims)
}

fn push_list(out: &mut String, bytes: &[u8]) {
    let mut length = 0;
    let mut items = String::new();
    let mut item = |push: &mut dyn FnMut(&mut String)| {
        if length < LIST_LIMIT {
            if length > 0 {
                items.push(',');
            }
            push(&mut items);
        }
        length += 1;
    };
    for field in fields(bytes) {
        let body = field.bytes();
        match (field.number, body) {
            (3 | 5 | 6, _) => {
                for number in field.varints().flatten() {
                    item(&mut |out| match field.number {
                        3 => push_i64(out, number as i64),
                        5 => out.push_str(if number != 0 { "true" } else { "false" }),
                        _ => push_text(out, &data_type_name(number as i64)),
                    });
                }
            }
            (4, Some(packed)) => {
                for four in packed.chunks_exact(4) {
                    item(&mut |out| push_f32(out, f32::from_le_bytes([four[0], four[1], four[2], four[3]])));
                }
            }
            (4, None) => item(&mut |out| push_f32(out, field.f32().unwrap_or_default())),
            (2, Some(body)) => item(&mut |out| push_bytes(out, body)),
            (7, Some(body)) => item(&mut |out| push_shape(out, body)),
            (8, Some(body)) => item(&mut |out| push_tensor(out, body)),
            (9, Some(body)) => item(&mut |out| push_function(out, body)),
            _ => {}
        }
    }
    if length <= LIST_LIMIT {
        out.push('[');
        out.push_str(&items);
        out.push(']');
    } else {
        let mut object = Object::begin(out);
        push_i64(object.key("length"), length as i64);
        let first = object.key("first");
        first.push('[');
        first.push_str(&items);
        first.push(']');
        object.end();
    }
}

fn push_function(out: &mut String, bytes: &[u8]) {
    let mut name: &[u8] = &[];
    // A map: the last entry of a key counts, and there is no order.
    let mut attrs = BTreeMap::new();
    for field in fields(bytes) {
        match field.number {
            1 => name = field.bytes().unwrap_or(name),
            2 => {
                let (key, value) = entry(field.bytes().unwrap_or_default());
                attrs.insert(String::from_utf8_lossy(key), value);
            }
            _ => {}
        }
    }
    let mut object = Object::begin(out);
    push_text(object.key("func"), &String::from_utf8_lossy(name));
    if !attrs.is_empty() {
        let mut inner = Object::begin(object.key("attr"));
        for (key, value) in attrs {
            push_attr(inner.key(&key), value);
        }
        inner.end();
    }
    object.end();
}

/// Key and value of an entry of a map.
pub fn entry(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
    for field in fields(bytes) {
        match field.number {
            1 => key = field.bytes().unwrap_or(key),
            2 => value = field.bytes().unwrap_or(value),
            _ => {}
        }
    }
    (key, value)
}

/// Appends a `TensorProto`: element type, shape, size, and the values when they are few.
fn push_tensor(out: &mut String, bytes: &[u8]) {
    let (mut dtype, mut dims, mut content, mut text_bytes) = (0, Some(Vec::new()), None, 0);
    let mut values = Vec::new();
    for field in fields(bytes) {
        match field.number {
            1 => dtype = field.i64().unwrap_or(dtype),
            2 => dims = shape(field.bytes().unwrap_or_default()),
            4 => content = field.bytes(),
            5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 16 | 17 => {
                if field.number == 8 {
                    text_bytes += field.bytes().map_or(0, <[u8]>::len);
                }
                push_elements(&mut values, &field);
            }
            _ => {}
        }
    }
    // A reference type is its base plus 100.
    let element = element_bytes(dtype % 100);
    if let Some(content) = content.filter(|content| !content.is_empty()) {
        push_content(&mut values, dtype, element, content);
    }
    let elements =
        dims.as_ref().and_then(|dims| dims.iter().try_fold(1_i64, |all, dim| all.checked_mul(*dim)));
    let size = match (element, elements, content) {
        (Some(element), Some(elements), _) if elements >= 0 => elements.checked_mul(element as i64),
        (_, _, Some(content)) if !content.is_empty() => Some(content.len() as i64),
        (None, ..) if dtype == 7 => Some(text_bytes as i64),
        _ => None,
    };
    let mut object = Object::begin(out);
    push_text(object.key("dtype"), &data_type_name(dtype));
    match dims {
        Some(dims) => push_array(object.key("shape"), dims, push_i64),
        None => object.key("shape").push_str("null"),
    }
    if let Some(size) = size {
        push_i64(object.key("bytes"), size);
    }
    if !values.is_empty() && values.len() <= TENSOR_LIMIT {
        push_array(object.key("value"), &values, |out, value| out.push_str(value));
    }
    object.end();
}

/// Adds the elements of a typed value field as JSON, one more than the limit at most.
fn push_elements(values: &mut Vec<String>, field: &Field<'_>) {
    let mut add = |push: &dyn Fn(&mut String)| {
        if values.len() <= TENSOR_LIMIT {
            let mut value = String::new();
            push(&mut value);
            values.push(value);
        }
    };
    match (field.number, field.bytes()) {
        (8, Some(body)) => add(&|out| push_bytes(out, body)),
        (5 | 9, Some(packed)) => packed.chunks_exact(4).take(TENSOR_LIMIT + 1).for_each(|four| {
            add(&|out| push_f32(out, f32::from_le_bytes([four[0], four[1], four[2], four[3]])));
        }),
        (6 | 12, Some(packed)) => packed.chunks_exact(8).take(TENSOR_LIMIT + 1).for_each(|eight| {
            let bits = eight.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
            add(&|out| push_f64(out, f64::from_bits(bits)));
        }),
        (5 | 9, None) => add(&|out| push_f32(out, field.f32().unwrap_or_default())),
        (6 | 12, None) => add(&|out| push_f64(out, field.f64().unwrap_or_default())),
        (number, _) => field.varints().flatten().take(TENSOR_LIMIT + 1).for_each(|value| {
            add(&|out| match number {
                11 => out.push_str(if value != 0 { "true" } else { "false" }),
                16 | 17 => out.push_str(&value.to_string()),
                _ => push_i64(out, value as i64),
            });
        }),
    }
}

/// Adds the elements of packed content as JSON, when there are few and their type is a plain one.
fn push_content(values: &mut Vec<String>, dtype: i64, element: Option<u64>, content: &[u8]) {
    let Some(size) = element.map(|size| size as usize) else {
        return;
    };
    if content.len() > size * TENSOR_LIMIT {
        return;
    }
    for element in content.chunks_exact(size) {
        let bits = element.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let mut value = String::new();
        match dtype {
            1 => push_f32(&mut value, f32::from_bits(bits as u32)),
            2 => push_f64(&mut value, f64::from_bits(bits)),
            3 => push_i64(&mut value, i64::from(bits as i32)),
            4 | 17 | 22 | 23 => value = bits.to_string(),
            5 => push_i64(&mut value, i64::from(bits as i16)),
            6 => push_i64(&mut value, i64::from(bits as i8)),
            9 => push_i64(&mut value, bits as i64),
            10 => value.push_str(if bits != 0 { "true" } else { "false" }),
            _ => return,
        }
        values.push(value);
    }
}

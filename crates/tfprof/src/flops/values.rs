//! Numbers that tensors hold, as far as they follow from constants and shapes: sizes, axes, permutations.

use super::Op;
use stepscope_core::formats::graph::attr;
use stepscope_core::proto::wire::Fields;

/// Tensors of more numbers say nothing of shapes.
const MOST_NUMBERS: usize = 256;

/// A whole number of 32 or 64 bits.
const INT32: i64 = 3;
const INT64: i64 = 9;

/// The shape and the numbers of a `TensorProto`; no numbers for other types and large ones.
pub fn tensor(bytes: &[u8]) -> (Option<Vec<i64>>, Option<Vec<i64>>) {
    let (mut dtype, mut shape, mut content) = (0, Some(Vec::new()), None);
    let mut listed = Vec::new();
    for field in Fields::new(bytes, 0).flatten() {
        match field.number {
            1 => dtype = field.i64().unwrap_or(dtype),
            2 => shape = field.bytes().and_then(attr::shape),
            4 => content = field.bytes(),
            7 | 10 => {
                listed.extend(field.varints().flatten().take(MOST_NUMBERS + 1).map(|number| number as i64))
            }
            _ => {}
        }
    }
    let numbers = shape.as_deref().and_then(|shape| {
        let wanted = usize::try_from(super::elements(shape)).ok()?;
        if wanted > MOST_NUMBERS || !matches!(dtype, INT32 | INT64) {
            return None;
        }
        let numbers: Vec<i64> = match (content.filter(|content| !content.is_empty()), dtype) {
            (Some(content), INT32) => content
                .chunks_exact(4)
                .map(|chunk| i64::from(i32::from_le_bytes(chunk.try_into().expect("four bytes"))))
                .collect(),
            (Some(content), _) => content
                .chunks_exact(8)
                .map(|chunk| i64::from_le_bytes(chunk.try_into().expect("eight bytes")))
                .collect(),
            // The last number is that of all elements left out.
            (None, _) => {
                let last = listed.last().copied();
                listed.resize(wanted, last.unwrap_or(0));
                listed
            }
        };
        (numbers.len() == wanted).then_some(numbers)
    });
    (shape, numbers)
}

/// The numbers in the outputs of an op, from those in its inputs and from shapes.
pub fn outputs(op: &Op<'_>) -> Vec<Option<Vec<i64>>> {
    match op.name {
        "ShapeN" => {
            let shapes = op.inputs.iter();
            shapes.map(|shape| shape.map(<[i64]>::to_vec)).collect()
        }
        "BroadcastGradientArgs" => match (op.constant(0), op.constant(1)) {
            (Some(a), Some(b)) => vec![Some(spread_axes(a, b)), Some(spread_axes(b, a))],
            _ => Vec::new(),
        },
        _ => vec![output(op).filter(|numbers| numbers.len() <= MOST_NUMBERS)],
    }
}

fn output(op: &Op<'_>) -> Option<Vec<i64>> {
    let between = |each: fn(i64, i64) -> Option<i64>| {
        let (a, b) = (op.constant(0)?, op.constant(1)?);
        let length = if a.len() == 1 { b.len() } else { a.len() };
        let at = |numbers: &[i64], place: usize| match numbers {
            [one] => Some(*one),
            many => many.get(place).copied(),
        };
        (0..length).map(|place| each(at(a, place)?, at(b, place)?)).collect()
    };
    match op.name {
        "Shape" => op.shape(0).map(<[i64]>::to_vec),
        "Rank" => Some(vec![op.shape(0)?.len() as i64]),
        "Size" => Some(vec![i64::try_from(super::elements(op.shape(0)?)).ok()?]),
        "Identity" | "StopGradient" | "Cast" | "Snapshot" | "Reshape" | "ExpandDims" | "Squeeze" => {
            op.constant(0).map(<[i64]>::to_vec)
        }
        "Pack" => {
            // Only of scalars: then the numbers follow each other.
            let parts = op.inputs.iter().zip(&op.constants);
            parts
                .map(|(shape, numbers)| match (shape, numbers) {
                    (Some([]), Some([number])) => Some(*number),
                    _ => None,
                })
                .collect()
        }
        "ConcatV2" => {
            let parts = op.constants.split_last()?.1.iter();
            let parts: Vec<&[i64]> = parts.copied().collect::<Option<_>>()?;
            let is_flat = |place| op.shape(place).is_some_and(|shape| shape.len() == 1);
            (0..parts.len()).all(is_flat).then(|| parts.concat())
        }
        "Range" => {
            let (from, to) = (*op.constant(0)?.first()?, *op.constant(1)?.first()?);
            let is_plain = op.constant(2)?.first() == Some(&1);
            let length = usize::try_from(to.checked_sub(from)?.max(0)).ok()?;
            (is_plain && length <= MOST_NUMBERS).then(|| (from..to).collect())
        }
        "Fill" => {
            let (dims, value) = (op.constant(0)?, *op.constant(1)?.first()?);
            let length = usize::try_from(super::elements(dims)).ok()?;
            (length <= MOST_NUMBERS).then(|| vec![value; length])
        }
        "Gather" | "GatherV2" => {
            let (numbers, places) = (op.constant(0)?, op.constant(1)?);
            let places = places.iter();
            let pick = |place: &i64| numbers.get(usize::try_from(*place).ok()?).copied();
            places.map(pick).collect()
        }
        "Prod" => {
            let numbers = op.constant(0)?.iter();
            let product = numbers.copied().try_fold(1i64, i64::checked_mul)?;
            (op.shape(0)?.len() == 1).then(|| vec![product])
        }
        "StridedSlice" => slice(op),
        "Slice" => {
            let numbers = op.constant(0)?;
            let (&[begin], &[size]) = (op.constant(1)?, op.constant(2)?) else {
                return None;
            };
            let begin = usize::try_from(begin).ok()?;
            let end = match size {
                -1 => numbers.len(),
                size => begin.checked_add(usize::try_from(size).ok()?)?,
            };
            let flat = op.shape(0)?.len() == 1;
            numbers.get(begin..end).filter(|_| flat).map(<[i64]>::to_vec)
        }
        "DynamicStitch" | "ParallelDynamicStitch" => stitch(op),
        "Add" | "AddV2" => between(i64::checked_add),
        "Sub" => between(i64::checked_sub),
        "Mul" => between(i64::checked_mul),
        "FloorDiv" => between(|a, b| a.checked_div_euclid(b).filter(|_| a >= 0 && b > 0)),
        "FloorMod" => between(|a, b| a.checked_rem_euclid(b).filter(|_| a >= 0 && b > 0)),
        "Maximum" => between(|a, b| Some(a.max(b))),
        "Minimum" => between(|a, b| Some(a.min(b))),
        _ => None,
    }
}

/// A list put together of numbers and the places where they go; later ones replace earlier ones.
fn stitch(op: &Op<'_>) -> Option<Vec<i64>> {
    let (places, data) = op.constants.split_at(op.constants.len() / 2);
    let mut found: Vec<Option<i64>> = Vec::new();
    for (places, data) in places.iter().zip(data) {
        let (places, data) = ((*places)?, (*data)?);
        if places.len() != data.len() {
            return None;
        }
        for (place, number) in places.iter().zip(data) {
            let place = usize::try_from(*place).ok().filter(|at| *at < MOST_NUMBERS)?;
            if found.len() <= place {
                found.resize(place + 1, None);
            }
            found[place] = Some(*number);
        }
    }
    found.into_iter().collect()
}

/// A part of a list, by one begin, end and stride.
fn slice(op: &Op<'_>) -> Option<Vec<i64>> {
    let numbers = op.constant(0)?;
    let (&[begin], &[end], &[1]) = (op.constant(1)?, op.constant(2)?, op.constant(3)?) else {
        return None;
    };
    let mask = |name| op.attributes.int(name).unwrap_or(0) & 1 != 0;
    if op.shape(0)?.len() != 1 || mask("new_axis_mask") || mask("ellipsis_mask") {
        return None;
    }
    let length = numbers.len() as i64;
    let place = |at: i64| if at < 0 { at.saturating_add(length) } else { at }.clamp(0, length);
    let from = if mask("begin_mask") { 0 } else { place(begin) };
    let to = match (mask("shrink_axis_mask"), mask("end_mask")) {
        (true, _) => from + 1,
        (_, true) => length,
        _ => place(end),
    };
    numbers.get(from as usize..to.max(from) as usize).map(<[i64]>::to_vec)
}

/// The axes over which a gradient is summed up, where one shape was spread out over the other. TensorFlow
/// names an axis of which both sides are 1 too: it does not matter for sizes.
fn spread_axes(own: &[i64], other: &[i64]) -> Vec<i64> {
    let rank = own.len().max(other.len());
    let at = |shape: &[i64], axis: usize| match (axis + shape.len()).checked_sub(rank) {
        Some(axis) => shape[axis],
        None => 1,
    };
    (0..rank)
        .filter(|axis| at(own, *axis) == 1 && (at(other, *axis) != 1 || own.len() < rank))
        .filter(|axis| at(other, *axis) != 1 || axis + own.len() < rank)
        .map(|axis| axis as i64)
        .collect()
}

//! The rules of single ops: the shape of an output from shapes and constants of the inputs.

use super::{MOST_OUTPUTS, Op, first};

/// Rows of the first matrix, columns of the second.
pub fn product(op: &Op<'_>) -> Option<Vec<i64>> {
    let (&[a, b], &[c, d]) = (op.shape(0)?, op.shape(1)?) else {
        return None;
    };
    let rows = if op.attributes.truth("transpose_a") { b } else { a };
    let columns = if op.attributes.truth("transpose_b") { c } else { d };
    Some(vec![rows, columns])
}

/// Products of matrices, with the dimensions before them spread.
pub fn batch_product(op: &Op<'_>) -> Option<Vec<i64>> {
    let ((before, x), (other, y)) = (matrices(op.shape(0)?)?, matrices(op.shape(1)?)?);
    let mut shape = spread(before, other)?;
    shape.push(x[usize::from(op.attributes.truth("adj_x"))]);
    shape.push(y[usize::from(!op.attributes.truth("adj_y"))]);
    Some(shape)
}

/// One number for each channel.
pub fn bias_gradient(op: &Op<'_>) -> Option<Vec<i64>> {
    let shape = op.shape(0)?;
    let channels = match op.attributes.text("data_format") {
        Some(format) if format.starts_with("NC") => shape.get(1),
        _ => shape.last(),
    };
    Some(vec![*channels?])
}

/// The shape without the axis that is searched.
pub fn along_axis(op: &Op<'_>) -> Option<Vec<i64>> {
    let (shape, axis) = axis_of(op, *op.constant(1)?.first()?)?;
    let mut shape = shape.to_vec();
    shape.remove(axis);
    Some(shape)
}

/// Dimensions in the order of a permutation.
pub fn transpose(op: &Op<'_>) -> Option<Vec<i64>> {
    let shape = op.shape(0)?;
    let dims = op.constant(1)?.iter();
    dims.map(|dim| shape.get(usize::try_from(*dim).ok()?).copied()).collect()
}

/// Each dimension, repeated.
pub fn tile(op: &Op<'_>) -> Option<Vec<i64>> {
    let (shape, times) = (op.shape(0)?, op.constant(1)?);
    let dims = shape.iter().zip(times);
    (shape.len() == times.len()).then(|| dims.map(|(dim, times)| dim.checked_mul(*times)).collect())?
}

/// Each dimension with what is put before and behind it.
pub fn pad(op: &Op<'_>) -> Option<Vec<i64>> {
    let (shape, pads) = (op.shape(0)?, op.constant(1)?);
    let dims = shape.iter().zip(pads.chunks_exact(2));
    (pads.len() == 2 * shape.len())
        .then(|| dims.map(|(dim, pad)| dim.checked_add(pad[0])?.checked_add(pad[1])).collect())?
}

/// A new axis as long as there are inputs.
pub fn pack(op: &Op<'_>) -> Option<Vec<i64>> {
    let mut shape = first(op)?;
    let axis = op.attributes.int("axis").unwrap_or(0);
    let rank = shape.len() as i64 + 1;
    let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()?;
    if axis > shape.len() {
        return None;
    }
    shape.insert(axis, op.inputs.len() as i64);
    Some(shape)
}

/// A new axis of length 1.
pub fn expand(op: &Op<'_>) -> Option<Vec<i64>> {
    let mut shape = first(op)?;
    let axis = *op.constant(1)?.first()?;
    let rank = shape.len() as i64 + 1;
    let axis = usize::try_from(if axis < 0 { axis.checked_add(rank)? } else { axis }).ok()?;
    if axis > shape.len() {
        return None;
    }
    shape.insert(axis, 1);
    Some(shape)
}

/// The shape without axes of length 1: all of them, or those that are named.
pub fn squeeze(op: &Op<'_>) -> Option<Vec<i64>> {
    let shape = op.shape(0)?;
    let wanted = op.attributes.ints("squeeze_dims");
    let is_wanted = |dim: usize| {
        wanted.is_empty()
            || wanted.contains(&(dim as i64))
            || wanted.contains(&(dim as i64 - shape.len() as i64))
    };
    let dims = shape.iter().enumerate();
    let kept = dims.filter(|(dim, size)| !(**size == 1 && is_wanted(*dim)));
    Some(kept.map(|(_, size)| *size).collect())
}

/// The size that is asked for; -1 is all that is left.
pub fn slice(op: &Op<'_>) -> Option<Vec<i64>> {
    let (shape, begin, size) = (op.shape(0)?, op.constant(1)?, op.constant(2)?);
    if begin.len() != shape.len() || size.len() != shape.len() {
        return None;
    }
    let dims = shape.iter().zip(begin).zip(size);
    dims.map(|((dim, begin), size)| match size {
        -1 => dim.checked_sub(*begin),
        size => Some(*size),
    })
    .collect()
}

/// Indices in place of the axis that is gathered.
pub fn gather(op: &Op<'_>) -> Option<Vec<i64>> {
    let (params, indices) = (op.shape(0)?, op.shape(1)?);
    let (_, axis) = axis_of(op, *op.constant(2)?.first()?)?;
    let batch = op.attributes.int("batch_dims").unwrap_or(0);
    let batch = usize::try_from(batch).ok().filter(|batch| *batch <= axis)?;
    let middle = indices.get(batch..)?;
    Some([&params[..axis], middle, &params[axis + 1..]].concat())
}

/// Indices in place of the first axis.
pub fn gather_rows(op: &Op<'_>) -> Option<Vec<i64>> {
    let (params, indices) = (op.shape(0)?, op.shape(1)?);
    Some([indices, params.get(1..)?].concat())
}

/// One more axis behind the others.
pub fn one_hot(op: &Op<'_>) -> Option<Vec<i64>> {
    let mut shape = first(op)?;
    if op.attributes.int("axis").unwrap_or(-1) != -1 {
        return None;
    }
    shape.push(*op.constant(1)?.first()?);
    Some(shape)
}

/// The shape of what is chosen.
pub fn select(op: &Op<'_>) -> Option<Vec<i64>> {
    let (a, b) = (op.shape(1)?, op.shape(2)?);
    match op.name {
        "Select" => Some(a.to_vec()),
        _ => spread(&spread(op.shape(0)?, a)?, b),
    }
}

/// From, to and by as constants.
pub fn range(op: &Op<'_>) -> Option<Vec<i64>> {
    let (from, to, by) = (*op.constant(0)?.first()?, *op.constant(1)?.first()?, *op.constant(2)?.first()?);
    let length = (i128::from(to) - i128::from(from))
        .checked_add(i128::from(by) - i128::from(by.signum()))?
        .checked_div(i128::from(by))?;
    Some(vec![i64::try_from(length.max(0)).ok()?])
}

/// The shape of two that are spread out over each other.
pub fn spread(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let rank = a.len().max(b.len());
    let dim = |shape: &[i64], at: usize| match (at + shape.len()).checked_sub(rank) {
        Some(at) => shape[at],
        None => 1,
    };
    let dims = (0..rank).map(|at| match (dim(a, at), dim(b, at)) {
        (a, b) if a == b || b == 1 => Some(a),
        (1, b) => Some(b),
        _ => None,
    });
    dims.collect()
}

/// A shape without its last two dimensions, and these.
pub fn matrices(shape: &[i64]) -> Option<(&[i64], &[i64])> {
    shape.split_at_checked(shape.len().checked_sub(2)?)
}

/// The first input's shape, and the place of an axis in it; a negative axis counts from the end.
pub fn axis_of<'a>(op: &'a Op<'_>, axis: i64) -> Option<(&'a [i64], usize)> {
    let shape = op.shape(0)?;
    Some((shape, place(axis, shape.len())?))
}

pub fn place(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis.checked_add(rank as i64)? } else { axis };
    usize::try_from(axis).ok().filter(|axis| *axis < rank)
}

/// Parts of equal size, or of the sizes that an input gives.
pub fn split(op: &Op<'_>, value: usize, axis: usize) -> Vec<Option<Vec<i64>>> {
    let parts = op.attributes.int("num_split").unwrap_or(0).clamp(0, MOST_OUTPUTS);
    let part = |number: i64| {
        let mut shape = op.shape(value)?.to_vec();
        let axis = place(*op.constant(axis)?.first()?, shape.len())?;
        shape[axis] = match op.name {
            "Split" => shape[axis].checked_div(parts)?,
            _ => {
                let sizes = op.constant(1)?;
                let size = *sizes.get(number as usize)?;
                let others: i64 = sizes.iter().filter(|size| **size > 0).sum();
                if size < 0 { shape[axis].checked_sub(others)? } else { size }
            }
        };
        Some(shape)
    };
    (0..parts).map(part).collect()
}

pub fn concat(op: &Op<'_>, parts: std::ops::Range<usize>, axis: i64) -> Option<Vec<i64>> {
    let mut shape = op.shape(parts.start)?.to_vec();
    let axis = place(axis, shape.len())?;
    shape[axis] = 0;
    for part in parts {
        shape[axis] = shape[axis].checked_add(*op.shape(part)?.get(axis)?)?;
    }
    Some(shape)
}

pub fn reshape(elements: i128, wanted: &[i64]) -> Option<Vec<i64>> {
    let others: i128 = wanted
        .iter()
        .filter(|dim| **dim >= 0)
        .try_fold(1i128, |product, dim| product.checked_mul(i128::from(*dim)))?;
    let open = elements.checked_div(others);
    let dims = wanted.iter().map(|dim| match dim {
        -1 => i64::try_from(open?).ok(),
        dim => Some(*dim),
    });
    dims.collect()
}

pub fn reduce(op: &Op<'_>) -> Option<Vec<i64>> {
    let shape = op.shape(0)?;
    let axes = op.constant(1)?.iter().map(|axis| place(*axis, shape.len()));
    let axes: Vec<usize> = axes.collect::<Option<_>>()?;
    let keeps = op.attributes.truth("keep_dims");
    let dims = shape.iter().enumerate().filter_map(|(dim, size)| match (axes.contains(&dim), keeps) {
        (true, true) => Some(1),
        (true, false) => None,
        _ => Some(*size),
    });
    Some(dims.collect())
}

/// The dimension that holds the channels of an image.
pub fn channels(op: &Op<'_>, rank: usize) -> Option<usize> {
    match op.attributes.text("data_format") {
        Some(format) if format.starts_with("NC") => Some(1),
        _ => rank.checked_sub(1),
    }
}

pub fn convolution(op: &Op<'_>) -> Option<Vec<i64>> {
    let (image, filter) = (op.shape(0)?, op.shape(1)?);
    let channels = channels(op, image.len())?;
    // The filter has its window first, wherever the image has it.
    let mut shape = slide(op, image, |dim| {
        let before = usize::from(dim > 0) + usize::from(channels == 1 && dim > 1);
        match dim == 0 || dim == channels {
            true => Some(1),
            false => filter.get(dim - before).copied(),
        }
    })?;
    let last = *filter.last()?;
    shape[channels] = match op.name {
        "Dilation2D" => image[channels],
        name if name.contains("epthwise") => image[channels].checked_mul(last)?,
        _ => last,
    };
    Some(shape)
}

/// Slides a window over an image: `window` gives its size in a dimension of the image.
pub fn slide(op: &Op<'_>, image: &[i64], window: impl Fn(usize) -> Option<i64>) -> Option<Vec<i64>> {
    let strides = op.attributes.ints("strides");
    let rates = match op.name {
        "Dilation2D" => op.attributes.ints("rates"),
        _ => op.attributes.ints("dilations"),
    };
    let explicit = op.attributes.ints("explicit_paddings");
    let padding = op.attributes.text("padding")?;
    let dims = image.iter().enumerate().map(|(dim, size)| {
        let stride = strides.get(dim).copied().filter(|stride| *stride > 0)?;
        let rate = rates.get(dim).copied().unwrap_or(1);
        let reach = (window(dim)?.checked_sub(1)?).checked_mul(rate)?;
        let size = match padding.as_str() {
            "SAME" => *size,
            "VALID" => size.checked_sub(reach)?,
            _ => {
                let around = explicit.get(2 * dim)?.checked_add(*explicit.get(2 * dim + 1)?)?;
                size.checked_add(around)?.checked_sub(reach)?
            }
        };
        Some(size.checked_add(stride - 1)?.max(0) / stride)
    });
    dims.collect()
}

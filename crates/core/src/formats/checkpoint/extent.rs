//! Which part of a tensor a slice holds, and how parts become the whole.

use crate::proto::wire::{Damage, Field};

/// A slice in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// First index.
    pub start: i64,
    /// How many; None for all of them.
    pub length: Option<i64>,
}

/// A slice, dimension by dimension: a `TensorSliceProto`.
pub fn extents(slice: &Field<'_>) -> Result<Vec<Extent>, Damage> {
    let mut found = Vec::new();
    for field in slice.message().into_iter().flatten() {
        let field = field?;
        if field.number != 1 {
            continue;
        }
        let mut extent = Extent::default();
        for part in field.message().into_iter().flatten() {
            let part = part?;
            match part.number {
                1 => extent.start = part.i64().unwrap_or_default(),
                2 => extent.length = part.i64(),
                _ => {}
            }
        }
        found.push(extent);
    }
    Ok(found)
}

/// The shape of a slice of a tensor; None when it reaches out of it.
pub fn shape(whole: &[u64], extents: &[Extent]) -> Option<Vec<u64>> {
    if whole.len() != extents.len() {
        return None;
    }
    let dims = whole.iter().zip(extents).map(|(dim, extent)| {
        let length = match extent.length {
            Some(length) => u64::try_from(length).ok()?,
            None => *dim,
        };
        let start = u64::try_from(extent.start).ok()?;
        (start.checked_add(length)? <= *dim).then_some(length)
    });
    dims.collect()
}

/// Number of elements; None when nobody can count so far.
pub fn elements(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1u64, |product, dim| product.checked_mul(*dim))
}

/// Calls `copy(from, to, count)` for each run of elements of a slice: its place in the slice, its place in
/// the whole, and how many. The slice fits, as [`shape`] says.
pub fn runs(whole: &[u64], extents: &[Extent], mut copy: impl FnMut(usize, usize, usize)) {
    let Some(part) = shape(whole, extents) else {
        return;
    };
    let Some(total @ 1..) = elements(&part) else {
        return;
    };
    let Some((run, outer)) = part.split_last() else {
        return copy(0, 0, 1);
    };
    let mut index = vec![0u64; outer.len()];
    for from in (0..total).step_by(*run as usize) {
        let mut to = 0;
        for (at, (dim, extent)) in whole.iter().zip(extents).enumerate() {
            to = to * dim + index.get(at).unwrap_or(&0) + extent.start as u64;
        }
        copy(from as usize, to as usize, *run as usize);
        for (place, dim) in index.iter_mut().zip(outer).rev() {
            *place += 1;
            if *place < *dim {
                break;
            }
            *place = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(start: i64, length: i64) -> Extent {
        Extent { start, length: Some(length) }
    }

    #[test]
    fn parts_make_the_whole() {
        let whole = [4, 3, 2];
        let slices = [
            [extent(0, 4), extent(0, 2), Extent::default()],
            [Extent::default(), extent(2, 1), extent(0, 2)],
        ];
        let mut found = [0; 24];
        for (number, slice) in (1..).zip(&slices) {
            runs(&whole, slice, |_, to, count| found[to..to + count].fill(number));
        }
        let row = [1, 1, 1, 1, 2, 2];
        assert_eq!(found, [row; 4].concat()[..]);
    }

    #[test]
    fn slices_stay_inside() {
        assert_eq!(shape(&[4], &[extent(2, 2)]), Some(vec![2]));
        for wrong in [extent(3, 2), extent(-1, 2), extent(0, -2), extent(i64::MAX, i64::MAX)] {
            assert_eq!(shape(&[4], &[wrong]), None);
        }
        assert_eq!(shape(&[4, 4], &[extent(0, 1)]), None);
    }
}

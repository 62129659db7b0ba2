//! Slices of two kinds in the order of the file.

use crate::columns::SliceColumns;

/// Slices, and the step numbers of some by index.
pub type Stepped<'a> = (&'a SliceColumns, &'a [(u32, i64)]);

/// Slices of both in the order of the file: `before[i]` of the first come before the i-th of the
/// second.
pub fn merge(first: Stepped<'_>, second: Stepped<'_>, before: &[u32]) -> (SliceColumns, Vec<(u32, i64)>) {
    let mut merged = SliceColumns::default();
    let mut steps = Vec::new();
    let mut copy = |(from, numbers): Stepped<'_>, i: usize, at: &mut usize| {
        if let Some((_, number)) = numbers.get(*at).filter(|(index, _)| *index as usize == i) {
            steps.push((merged.track.len() as u32, *number));
            *at += 1;
        }
        merged.push_row(from, i);
    };
    let (mut i, mut i_step, mut k_step) = (0, 0, 0);
    for (k, before) in before.iter().enumerate() {
        while i < *before as usize {
            copy(first, i, &mut i_step);
            i += 1;
        }
        copy(second, k, &mut k_step);
    }
    while i < first.0.len() {
        copy(first, i, &mut i_step);
        i += 1;
    }
    (merged, steps)
}

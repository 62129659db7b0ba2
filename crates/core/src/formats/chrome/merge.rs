//! Slices of two kinds in the order of the file.

use crate::columns::SliceColumns;

/// Slices, and the step numbers of some by index.
pub type Stepped<'a> = (&'a SliceColumns, &'a [(u32, i64)]);

/// Slices of both in the order of the file: `before[i]` of the first come before the i-th of the
/// second.
pub fn merge(
    first: Stepped<'_>,
    second: Stepped<'_>,
    before: &[u32],
) -> (SliceColumns, Vec<(u32, i64)>) {
    let mut merged = SliceColumns::default();
    let mut steps = Vec::new();
    let mut copy = |(from, numbers): Stepped<'_>, i: usize, at: &mut usize| {
        if let Some((_, number)) = numbers.get(*at).filter(|(index, _)| *index as usize == i) {
            steps.push((merged.track.len() as u32, *number));
            *at += 1;
        }
        let args_start = if i == 0 {
            0
        } else {
            from.args_end[i - 1] as usize
        };
        merged.track.push(from.track[i]);
        merged.name.push(from.name[i]);
        merged.category.push(from.category[i]);
        merged.ts_ps.push(from.ts_ps[i]);
        merged.dur_ps.push(from.dur_ps[i]);
        merged.op_name.push(from.op_name[i]);
        merged.op_type.push(from.op_type[i]);
        merged.correlation.push(from.correlation[i]);
        merged
            .args_json
            .extend_from_slice(&from.args_json[args_start..from.args_end[i] as usize]);
        merged.args_end.push(merged.args_json.len() as u32);
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

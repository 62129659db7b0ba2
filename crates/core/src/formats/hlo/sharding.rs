//! Over which devices a value is spread, from its proto into the words of HLO text.

use super::frames::{damaged, each};
use super::shape::Budget;
use crate::error::{Error, Kind, Result};
use crate::proto::wire::Field;

fn joined(numbers: &[i64]) -> String {
    let words: Vec<String> = numbers.iter().map(i64::to_string).collect();
    words.join(",")
}

/// `OpSharding`: type 1, tile_assignment_dimensions 3, tile_assignment_devices 4, tuple_shardings 5,
/// replicate_on_last_tile_dim 6, last_tile_dims 8, iota_reshape_dims 9, iota_transpose_perm 10.
pub fn text(field: &Field<'_>, depth: usize) -> Result<String> {
    if depth > Budget::DEPTH {
        return Err(Error::at(Kind::Limit, field.offset, "shardings nested too deep"));
    }
    let (mut kind, mut replicated) = (0, false);
    let mut lists: [Vec<i64>; 5] = Default::default();
    let mut parts = Vec::new();
    each(field, |part| {
        let list = match part.number {
            1 => {
                kind = part.u64().unwrap_or_default();
                None
            }
            3 => Some(0),
            4 => Some(1),
            5 => {
                parts.push(text(&part, depth + 1)?);
                None
            }
            6 => {
                replicated = part.bool().unwrap_or_default();
                None
            }
            8 => Some(2),
            9 => Some(3),
            10 => Some(4),
            _ => None,
        };
        if let Some(list) = list {
            for one in part.varints() {
                lists[list].push(one.map_err(damaged)? as i64);
            }
        }
        Ok(())
    })?;
    let [tiles, devices, last, reshape, order] = &lists;
    Ok(match kind {
        0 => "{replicated}".into(),
        1 => format!("{{maximal device={}}}", devices.first().unwrap_or(&0)),
        2 => format!("{{{}}}", parts.join(", ")),
        4 => "{manual}".into(),
        5 => "{unknown}".into(),
        _ => {
            let mut said = format!("{{devices=[{}]", joined(tiles));
            if reshape.is_empty() {
                said += &joined(devices);
            } else {
                said += &format!("<=[{}]", joined(reshape));
                if order.len() > 1 {
                    said += &format!("T({})", joined(order));
                }
            }
            if replicated {
                said += " last_tile_dim_replicate";
            }
            if !last.is_empty() {
                let word = |kind: &i64| match kind {
                    0 => "replicated",
                    4 => "manual",
                    _ => "unknown",
                };
                let words: Vec<&str> = last.iter().map(word).collect();
                said += &format!(" last_tile_dims={{{}}}", words.join(", "));
            }
            said + "}"
        }
    })
}

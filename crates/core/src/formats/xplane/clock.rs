//! Time zero. Unix-epoch picoseconds do not fit into 64 bits, so an origin is taken off first.

use super::PlaneExtent;
use super::metadata::each_field;
use super::parts::Parts;
use super::tally::Tally;
use super::tracks::PlaneKind;
use super::walk::Walk;
use super::window::{Trouble, Window};
use crate::error::Result;
use crate::store::Writer;

/// Line timestamps from here on (March 1973) are Unix time; smaller ones count from the start of the
/// recording. TensorFlow writes small ones since 2020, GPU and older recordings hold the others.
const UNIX_FROM_NS: i64 = 100_000_000_000_000_000;

/// Turns timestamps of lines into picoseconds from the origin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// Unix time of the origin in nanoseconds, when it is known.
    origin_ns: Option<i64>,
    /// True when the recording says when it began: then small timestamps count from there.
    recorded: bool,
}

impl Clock {
    /// The origin is the recording's start if it is recorded (`profile_start_time` of the Task
    /// Environment), else the first Unix timestamp of a line, else what the lines count from.
    pub fn read(window: &mut Window<'_>, planes: &[PlaneExtent], writer: &mut Writer) -> Result<Clock> {
        let mut origin_ns = None;
        for plane in planes {
            let parts = Parts::read(window, *plane, &mut Tally::default())?;
            if PlaneKind::of(&parts.name) != PlaneKind::TaskEnvironment {
                continue;
            }
            let names = parts.names(window, &mut 0)?;
            for (name, value) in parts.stat_texts(window, &names)? {
                if name == "profile_start_time" {
                    origin_ns = value.parse().ok().filter(|ns: &i64| *ns >= UNIX_FROM_NS).or(origin_ns);
                }
                writer.facts.meta.insert(name, value);
            }
        }
        let recorded = origin_ns.is_some();
        if !recorded {
            for plane in planes {
                origin_ns = first_unix(window, *plane)?.into_iter().chain(origin_ns).min();
            }
        }
        writer.facts.origin_unix_ns = origin_ns;
        Ok(Clock { origin_ns, recorded })
    }

    /// Start of a line from the origin; None when it is too far away.
    pub fn base_ps(&self, timestamp_ns: i64) -> Option<i64> {
        let from_origin_ns = match self.origin_ns {
            Some(origin_ns) if timestamp_ns >= UNIX_FROM_NS => timestamp_ns - origin_ns,
            _ => timestamp_ns,
        };
        from_origin_ns.checked_mul(1000)
    }

    /// True for a line whose clock cannot be brought together with that of the others.
    pub fn is_foreign(&self, timestamp_ns: i64) -> bool {
        !self.recorded && self.origin_ns.is_some() && timestamp_ns < UNIX_FROM_NS
    }
}

/// The earliest Unix timestamp in the headers of a plane's lines.
fn first_unix(window: &mut Window<'_>, plane: PlaneExtent) -> std::result::Result<Option<i64>, Trouble> {
    let mut walk = Walk::plane(plane.extent, plane.cut);
    let mut first = None;
    while let Some(part) = walk.next(window, &mut Tally::default())? {
        if !part.head.is(3) {
            continue;
        }
        let mut in_header = true;
        let mut timestamp_ns = 0;
        each_field(window, part.head.body, |_, head| {
            in_header &= !head.is(4);
            timestamp_ns = head.varint(3).map_or(timestamp_ns, |value| value as i64);
            Ok(in_header)
        })?;
        if timestamp_ns >= UNIX_FROM_NS {
            first = Some(first.map_or(timestamp_ns, |old: i64| old.min(timestamp_ns)));
        }
    }
    Ok(first)
}

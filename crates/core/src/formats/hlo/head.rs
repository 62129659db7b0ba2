//! What a module says of itself as a whole: on how many devices it runs, and which parameters it may write over.
//!
//! Fields: `DeviceAssignmentProto`: replica_count 1, computation_count 2. `HloBufferDonorProto`: entries 1;
//! `BufferDonorEntryProto`: parameter_number 1, parameter_shape_index 2.

use super::frames::{damaged, each};
use super::scan::{Cursor, integer, integers};
use super::shape::Shape;
use crate::error::Result;
use crate::proto::wire::Field;

/// The head of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// How many times it runs side by side on other data; 1 where it says nothing.
    pub replicas: i64,
    /// Over how many devices its values are spread; 1 where it says nothing.
    pub partitions: i64,
    /// Parameters whose memory was given to it and that no output has taken: before optimization all that were
    /// given, after it those that were given in vain.
    pub donors: Vec<Donor>,
}

/// A parameter, or a part of one that is a tuple.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Donor {
    /// Number of the parameter.
    pub parameter: i64,
    /// Which part of it; empty for all.
    pub index: Vec<i64>,
}

impl Default for Head {
    fn default() -> Self {
        Head { replicas: 1, partitions: 1, donors: Vec::new() }
    }
}

impl Donor {
    /// Bytes of it in a parameter of this shape; none where the shape has no such part.
    pub fn bytes(&self, shape: &Shape) -> Option<f64> {
        let mut part = shape;
        for &at in &self.index {
            part = part.parts.get(usize::try_from(at).ok()?)?;
        }
        Some(part.bytes())
    }
}

impl Head {
    /// Reads the attributes behind the name of a text; what is not understood is left out.
    pub fn of_text(said: &[u8]) -> Head {
        let mut found = Head::default();
        let mut cursor = Cursor { bytes: said, at: 0 };
        while !cursor.done() {
            let Ok(one) = cursor.value(b",") else {
                break;
            };
            cursor.take(b",");
            let one = one.trim_ascii();
            let Some(at) = memchr::memchr(b'=', one) else {
                continue;
            };
            let (key, value) = (&one[..at], &one[at + 1..]);
            match key {
                b"replica_count" => found.replicas = integer(value).unwrap_or(1),
                b"num_partitions" => found.partitions = integer(value).unwrap_or(1),
                b"buffer_donor" => found.donors = donors_of_text(value),
                _ => {}
            }
        }
        found
    }

    /// Reads a `DeviceAssignmentProto`.
    pub(super) fn devices(&mut self, field: &Field<'_>) -> Result<()> {
        each(field, |part| {
            match part.number {
                1 => self.replicas = part.i64().unwrap_or(1),
                2 => self.partitions = part.i64().unwrap_or(1),
                _ => {}
            }
            Ok(())
        })
    }

    /// Reads a `HloBufferDonorProto`.
    pub(super) fn donors(&mut self, field: &Field<'_>) -> Result<()> {
        each(field, |entry| {
            if entry.number != 1 {
                return Ok(());
            }
            let mut donor = Donor::default();
            each(&entry, |part| {
                match part.number {
                    1 => donor.parameter = part.i64().unwrap_or_default(),
                    2 => {
                        for one in part.varints() {
                            donor.index.push(one.map_err(damaged)? as i64);
                        }
                    }
                    _ => {}
                }
                Ok(())
            })?;
            self.donors.push(donor);
            Ok(())
        })
    }
}

/// `{ (0, {}), (3, {1}) }`.
fn donors_of_text(value: &[u8]) -> Vec<Donor> {
    let mut cursor = Cursor { bytes: value, at: 0 };
    let mut found = Vec::new();
    loop {
        cursor.until(|one| one == b'(');
        if !cursor.take(b"(") {
            return found;
        }
        let number = integer(cursor.until(|one| matches!(one, b',' | b')')));
        cursor.until(|one| matches!(one, b'{' | b')'));
        let index = integers(cursor.until(|one| one == b')'));
        found.extend(number.map(|parameter| Donor { parameter, index }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_its_devices_and_donors() {
        let said = br#", is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (1, {}), (2, {0,1}) }, entry_computation_layout={(f32[8]{0})->f32[8]{0}}, replica_count=2, num_partitions=4, frontend_attributes={a="num_partitions=9, replica_count=9"}"#;
        let found = Head::of_text(said);
        assert_eq!((found.replicas, found.partitions), (2, 4));
        let said: Vec<_> = (found.donors.iter()).map(|one| (one.parameter, one.index.clone())).collect();
        assert_eq!(said, [(1, vec![]), (2, vec![0, 1])]);
    }

    #[test]
    fn a_text_that_says_nothing_runs_on_one_device() {
        for said in [&b""[..], b", is_scheduled=true", b", buffer_donor={", b", num_partitions=x"] {
            assert_eq!(Head::of_text(said), Head::default(), "{said:?}");
        }
    }
}

//! Memory for columns that are worked out anew for every reader, used again when the reader drops it:
//! fresh memory costs more than filling it.

use arrow_buffer::{Buffer, ToByteSlice};
use std::sync::{Mutex, PoisonError};

/// Columns that are kept for the next reader, of each kind; one is at most 1 MB.
const KEPT: usize = 12;

/// A kind of values that columns are made of.
pub trait Value: Copy + Send + 'static {
    /// What was used before.
    fn pool() -> &'static Mutex<Vec<Vec<Self>>>;
}

impl Value for i64 {
    fn pool() -> &'static Mutex<Vec<Vec<i64>>> {
        static POOL: Mutex<Vec<Vec<i64>>> = Mutex::new(Vec::new());
        &POOL
    }
}

impl Value for i32 {
    fn pool() -> &'static Mutex<Vec<Vec<i32>>> {
        static POOL: Mutex<Vec<Vec<i32>>> = Mutex::new(Vec::new());
        &POOL
    }
}

struct Pooled<T: Value>(Vec<T>);

impl<T: Value> AsRef<[u8]> for Pooled<T>
where
    [T]: ToByteSlice,
{
    fn as_ref(&self) -> &[u8] {
        self.0.to_byte_slice()
    }
}

impl<T: Value> Drop for Pooled<T> {
    fn drop(&mut self) {
        let mut used = std::mem::take(&mut self.0);
        used.clear();
        let mut pool = T::pool().lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < KEPT {
            pool.push(used);
        }
    }
}

/// A column of values in memory that was used before, if there is some.
pub fn column<T: Value + Sync>(values: impl Iterator<Item = T>) -> Buffer
where
    [T]: ToByteSlice,
{
    let used = T::pool().lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut column = used.unwrap_or_default();
    column.extend(values);
    Buffer::from(bytes::Bytes::from_owner(Pooled(column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_in_used_memory_hold_their_own_values() {
        let mut held = Vec::new();
        for round in 0..40_i64 {
            held.push((round, column((0..round as u32).map(|i| i64::from(i) * round))));
            if round % 3 == 0 {
                held.remove(0);
            }
        }
        for (round, buffer) in &held {
            let expected: Vec<i64> = (0..*round).map(|i| i * round).collect();
            assert_eq!(buffer.typed_data::<i64>(), &expected[..]);
        }
        assert_eq!(column([1_i32, 2].into_iter()).typed_data::<i32>(), [1, 2]);
    }
}

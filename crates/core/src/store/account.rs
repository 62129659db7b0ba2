//! What a decoder says it stored, held against the tables.
//!
//! `events_stored` is a sum that decoders count as they go. Whoever reads it takes it for rows; so each decoder also
//! says which table the rows are in, and what is in no table counts as lost, with a note.

use crate::facts::{Effect, Facts};

/// Events whose rows are in one table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    /// Name of the table.
    pub table: &'static str,
    /// The events.
    pub events: u64,
    /// Rows that they gave: two ends give one slice, a counter event a row for each series.
    pub rows: u64,
}

/// Holds the claims against the tables; `rows` tells how many rows a table has.
pub(crate) fn settle(facts: &mut Facts, claims: &[Claim], rows: impl Fn(&str) -> u64) {
    let there: u64 = claims
        .iter()
        .map(|claim| {
            let short = claim.rows.saturating_sub(rows(claim.table));
            claim.events.saturating_sub(short)
        })
        .sum();
    let lost = facts.events_stored.saturating_sub(there);
    if lost > 0 {
        facts.events_stored -= lost;
        facts.events_lost += lost;
        let are = if lost == 1 { "event is" } else { "events are" };
        let detail = format!("{lost} {are} in no table, though read and counted");
        facts.note("events-unaccounted", Effect::Lost, lost, None, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(claims: &[Claim], rows: u64) -> (u64, u64, Vec<u64>) {
        let mut facts = Facts { events_seen: 10, events_stored: 9, events_lost: 1, ..Facts::default() };
        settle(&mut facts, claims, |_| rows);
        let notes = facts.notes.iter().map(|note| note.events).collect();
        (facts.events_stored, facts.events_lost, notes)
    }

    #[test]
    fn what_is_in_no_table_is_lost() {
        let claim = |events, rows| Claim { table: "slice", events, rows };
        assert_eq!(settled(&[claim(9, 5)], 5), (9, 1, vec![]));
        assert_eq!(settled(&[claim(4, 4), claim(5, 0)], 4), (9, 1, vec![]));
        assert_eq!(settled(&[claim(9, 5)], 3), (7, 3, vec![2]));
        assert_eq!(settled(&[claim(8, 0)], 0), (8, 2, vec![1]));
        assert_eq!(settled(&[claim(9, 20)], 0), (0, 10, vec![9]));
    }
}

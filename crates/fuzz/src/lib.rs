//! What every fuzz target asks of the core: a result or an error, and rows that hold together.

use std::collections::BTreeMap;
use stepscope_core::error::Error;
use stepscope_core::input::{Codec, Input};
use stepscope_core::options::{Needs, Options};
use stepscope_core::store::{Store, Value};

/// A row as the store gives it.
pub type Row = BTreeMap<String, Value>;

/// Decodes `data` and checks what comes out. Panics when anything is wrong: that is what libFuzzer waits for.
pub fn check(format: &str, data: &[u8]) -> Result<Store, Error> {
    let whole = decode(format, data, Needs::default(), 1);
    // The result must not hang on the number of threads, nor on what the caller will look at.
    let again = decode(format, data, Needs::default(), 3);
    let little = decode(format, data, Needs { args: false, nesting: false, tables: false, ops: false }, 1);
    match (&whole, &again, &little) {
        (Ok(whole), Ok(again), Ok(little)) => {
            assert_eq!(whole.tables(), again.tables(), "threads change the rows");
            for table in whole.tables().keys() {
                assert!(same(&rows(whole, table), &rows(again, table)), "threads change {table}");
            }
            let seen = |store: &Store| {
                let facts = &store.facts;
                [facts.events_seen, facts.events_stored, facts.events_lost]
            };
            assert_eq!(seen(whole), seen(again), "threads change what was seen");
            assert_eq!(seen(whole), seen(little), "needs change what was seen");
            assert_eq!(number_of(whole, "slice"), number_of(little, "slice"), "needs change the slices");
        }
        (Err(_), Err(_), Err(_)) => {}
        _ => panic!("threads or needs decide whether the file can be read"),
    }
    let store = whole?;
    let facts = &store.facts;
    assert_eq!(facts.events_seen, facts.events_stored + facts.events_lost, "events vanish without a word");
    let unaccounted = facts.notes.iter().find(|note| note.slug == "events-unaccounted");
    assert_eq!(unaccounted, None, "events that are said to be stored are in no table");
    slices(&store);
    for table in store.tables().keys() {
        references(&store, table);
    }
    Ok(store)
}

/// Decodes from memory into memory.
pub fn decode(format: &str, data: &[u8], needs: Needs, threads: usize) -> Result<Store, Error> {
    let options = Options { needs, threads, ..Options::default() };
    stepscope_core::decode(format, &Input::bytes(data.to_vec(), Codec::Plain), &options)
}

/// Rows of a table; what a decoder wrote can be read.
pub fn rows(store: &Store, table: &str) -> Vec<Row> {
    store.rows(table).expect("a table that was just written")
}

/// Number of rows of a table, 0 when it is not there.
pub fn number_of(store: &Store, table: &str) -> u64 {
    store.tables().get(table).copied().unwrap_or(0)
}

/// An integer of a row; None when it is missing.
pub fn integer(row: &Row, column: &str) -> Option<i64> {
    match row.get(column) {
        Some(Value::I64(value)) => Some(*value),
        Some(Value::Null) | None => None,
        other => panic!("{column} is {other:?}"),
    }
}

// NaN is not equal to itself, and a counter may hold one.
fn same(left: &[Row], right: &[Row]) -> bool {
    format!("{left:?}") == format!("{right:?}")
}

/// Slices nest, their self time adds up to the union of each track, their arguments are JSON.
fn slices(store: &Store) {
    let rows = rows(store, "slice");
    let end = |row: &Row| {
        let (ts, dur) = (integer(row, "ts_ps").unwrap(), integer(row, "dur_ps").unwrap());
        assert!(dur >= 0, "a negative duration");
        ts.checked_add(dur).expect("a slice that ends after the end of time")
    };
    let mut busy: BTreeMap<i64, (i128, i128, i64)> = BTreeMap::new(); // sum of self time, union, end so far
    for (id, row) in rows.iter().enumerate() {
        let (ts, end_ps) = (integer(row, "ts_ps").unwrap(), end(row));
        let (track, own) = (integer(row, "track_id").unwrap(), integer(row, "self_ps").unwrap());
        assert!(own >= 0 && own <= end_ps - ts, "self time outside of the slice");
        let sum = busy.entry(track).or_insert((0, 0, i64::MIN));
        sum.0 += i128::from(own);
        sum.1 += (i128::from(end_ps) - i128::from(ts.max(sum.2))).max(0);
        sum.2 = sum.2.max(end_ps);
        let depth = integer(row, "depth").unwrap();
        match integer(row, "parent_id") {
            None => assert_eq!(depth, 0, "depth without a parent"),
            Some(parent) => {
                assert!(parent >= 0 && (parent as usize) < id, "a parent after its child");
                let above = &rows[parent as usize];
                assert_eq!(integer(above, "track_id"), Some(track), "a parent on another track");
                assert_eq!(integer(above, "depth").unwrap() + 1, depth);
                assert!(integer(above, "ts_ps").unwrap() <= ts && end_ps <= end(above), "a child outside");
            }
        }
        if let Some(Value::Text(args)) = row.get("args_json") {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(args);
            // serde_json stops at 128 levels; we keep up to 256.
            assert!(parsed.map_or_else(|e| e.to_string().contains("recursion"), |v| v.is_object()), "{args}");
        }
    }
    for (track, (own, union, _)) in busy {
        assert_eq!(own, union, "self time of track {track} is not its busy time");
    }
}

/// Numbers of other rows point to rows.
fn references(store: &Store, table: &str) {
    let targets =
        [("track_id", "track"), ("slice_id", "slice"), ("device_id", "device"), ("op_run_id", "op_run")];
    for row in rows(store, table) {
        for (column, target) in targets {
            if let Some(id) = integer(&row, column).filter(|_| row.contains_key(column)) {
                let there = number_of(store, target);
                assert!(id >= 0 && (id as u64) < there, "{table}.{column} = {id} of {there}");
            }
        }
    }
}

//! Groups of batches, as writers of files are handed them.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use stepscope_core::columns::{MISSING, NONE, SliceColumns};
use stepscope_core::store::raw::Raw;
use stepscope_core::store::{Options, Store, Writer};

/// A row group of DuckDB.
const GROUP_ROWS: usize = 122_880;

/// A store of so many slices, with args of so many bytes.
fn store(rows: usize, args: &str) -> Store {
    let mut writer = Writer::new(&Options::default()).unwrap();
    let names = [writer.names.intern("even"), writer.names.intern("odd")];
    let mut piece = SliceColumns::default();
    for row in 0..rows {
        piece.track.push(0);
        piece.name.push(names[row % 2]);
        piece.category.push(NONE);
        piece.ts_ps.push(10 * row as i64);
        piece.dur_ps.push(row as i64 % 7);
        piece.op_name.push(NONE);
        piece.op_type.push(NONE);
        let correlated = row.is_multiple_of(5);
        piece.correlation.push(if correlated { row as i64 } else { MISSING });
        piece.args_json.extend_from_slice(args.as_bytes());
        piece.args_end.push(piece.args_json.len() as u32);
    }
    writer.push_ordered(piece).unwrap();
    writer.finish().unwrap()
}

#[test]
fn a_group_is_the_rows_of_its_batches() {
    let rows = GROUP_ROWS + 50_000;
    let store = store(rows, "");
    let columns = store.table("slice").unwrap().raw().unwrap();
    let mut row = 0;
    for group in 0..columns.groups() {
        let first = row;
        let column = |name: &str| columns.column(group, name).unwrap().expect("it is there");
        let Raw::Counted(ids) = column("id") else { panic!("rows are counted") };
        let Raw::Values(times) = column("ts_ps") else { panic!("times are values") };
        let Raw::Values(correlations) = column("correlation_id") else { panic!("ids are values") };
        let Raw::Codes(codes, names) = column("name") else { panic!("names are codes") };
        assert_eq!(ids, first as i64..(first + columns.rows(group)) as i64);
        let times = times.as_primitive::<Int64Type>();
        let correlations = correlations.as_primitive::<Int64Type>();
        let codes: &arrow_array::PrimitiveArray<Int32Type> = &codes;
        for at in 0..columns.rows(group) {
            assert_eq!(times.value(at), 10 * row as i64);
            assert_eq!(correlations.is_valid(at), row.is_multiple_of(5));
            let name = names.as_string::<i32>().value(codes.value(at) as usize);
            assert_eq!(name, if row.is_multiple_of(2) { "even" } else { "odd" });
            row += 1;
        }
    }
    assert_eq!(row, rows);
    let sizes: Vec<usize> = (0..columns.groups()).map(|group| columns.rows(group)).collect();
    assert_eq!(sizes, [GROUP_ROWS, 50_000]);
}

#[test]
fn long_args_make_short_groups() {
    let args = "x".repeat(1000);
    let store = store(GROUP_ROWS, &args);
    let columns = store.table("slice").unwrap().raw().unwrap();
    let rows: usize = (0..columns.groups()).map(|group| columns.rows(group)).sum();
    assert_eq!(rows, GROUP_ROWS);
    let most = (0..columns.groups()).map(|group| columns.rows(group)).max().unwrap();
    assert!(most * args.len() <= 64 << 20, "{most} rows in a group");
}

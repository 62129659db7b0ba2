//! XPlane against spaces encoded here: what goes in comes out, whatever the threads, the place of
//! fields, or the bytes.

use proptest::prelude::*;
use std::collections::BTreeMap;
use stepscope_core::decode;
use stepscope_core::error::Kind;
use stepscope_core::input::{Codec, Input};
use stepscope_core::options::Options;
use stepscope_core::store::{Store, Value};

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(field: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value, &mut out);
    out
}

fn nested(field: u64, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3 | 2, &mut out);
    varint(payload.len() as u64, &mut out);
    out.extend(payload);
    out
}

/// An event and what it has to become.
#[derive(Debug, Clone)]
struct Event {
    kind: u64,
    offset_ps: i64,
    dur_ps: i64,
    stats: Vec<(u64, Stat)>,
    /// Writes the fields from last to first, as no writer does but any reader must take.
    backwards: bool,
}

#[derive(Debug, Clone)]
enum Stat {
    Unsigned(u64),
    Signed(i64),
    Text(String),
    Name(u64),
}

impl Stat {
    fn json(&self) -> String {
        match self {
            Stat::Unsigned(value) => value.to_string(),
            Stat::Signed(value) => value.to_string(),
            Stat::Text(text) => format!("{text:?}"),
            Stat::Name(id) => format!("\"stat {id}\""),
        }
    }

    fn encode(&self, id: u64) -> Vec<u8> {
        let value = match self {
            Stat::Unsigned(value) => number(3, *value),
            Stat::Signed(value) => number(4, *value as u64),
            Stat::Text(text) => nested(5, text.as_bytes()),
            Stat::Name(id) => number(7, *id),
        };
        [number(1, id), value].concat()
    }
}

impl Event {
    fn encode(&self) -> Vec<u8> {
        let mut fields =
            vec![number(1, self.kind), number(2, self.offset_ps as u64), number(3, self.dur_ps as u64)];
        fields.extend(self.stats.iter().map(|(id, stat)| nested(4, &stat.encode(*id))));
        if self.backwards {
            // Of the fields, not of the stats: of two of one name the later counts.
            fields[..3].reverse();
            fields.rotate_left(3);
        }
        nested(4, &fields.concat())
    }

    fn args(&self) -> Option<String> {
        let mut last: BTreeMap<u64, usize> = BTreeMap::new();
        for (index, (id, _)) in self.stats.iter().enumerate() {
            last.insert(*id, index);
        }
        let members: Vec<String> = self
            .stats
            .iter()
            .enumerate()
            .filter(|(index, (id, _))| last[id] == *index)
            .map(|(_, (id, stat))| format!("\"stat {id}\":{}", stat.json()))
            .collect();
        (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
    }
}

const NAMES: u64 = 6;

fn space(lines: &[Vec<Event>], header_last: bool) -> Vec<u8> {
    let mut plane = nested(2, b"/host:CPU");
    for (index, events) in lines.iter().enumerate() {
        let header =
            [number(1, index as u64), nested(2, format!("line {index}").as_bytes()), number(3, 9)].concat();
        let events = events.iter().flat_map(Event::encode).collect::<Vec<u8>>();
        let line = if header_last { [events, header] } else { [header, events] };
        plane.extend(nested(3, &line.concat()));
    }
    for id in 0..NAMES {
        let kind = [number(1, id), nested(2, format!("kind {id}").as_bytes())].concat();
        plane.extend(nested(4, &[number(1, id), nested(2, &kind)].concat()));
        let stat = [number(1, id), nested(2, format!("stat {id}").as_bytes())].concat();
        plane.extend(nested(5, &[number(1, id), nested(2, &stat)].concat()));
    }
    nested(1, &plane)
}

fn read(data: &[u8], threads: usize) -> stepscope_core::error::Result<Store> {
    let options = Options { threads, ..Options::default() };
    decode("xplane", &Input::bytes(data.to_vec(), Codec::Plain), &options)
}

type Row = (i64, i64, i64, String, Option<String>);

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn int(value: &Value) -> i64 {
    match value {
        Value::I64(value) => *value,
        other => panic!("{other:?} is no integer"),
    }
}

/// Line, start, longest first, name and args of every slice.
fn slices(store: &Store) -> Vec<Row> {
    let tracks: BTreeMap<i64, i64> = store
        .rows("track")
        .expect("a table")
        .iter()
        .map(|row| {
            let origin = text(&row["origin"]).expect("every track has one");
            (int(&row["id"]), origin.rsplit(' ').next().and_then(|id| id.parse().ok()).expect("a line's id"))
        })
        .collect();
    let rows = store.rows("slice").expect("a table");
    let mut found: Vec<Row> = rows
        .iter()
        .map(|row| {
            let name = text(&row["name"]).expect("every slice has one");
            (
                tracks[&int(&row["track_id"])],
                int(&row["ts_ps"]),
                -int(&row["dur_ps"]),
                name,
                text(&row["args_json"]),
            )
        })
        .collect();
    found.sort();
    found
}

fn stats() -> impl Strategy<Value = Stat> {
    prop_oneof![
        any::<u64>().prop_map(Stat::Unsigned),
        any::<i64>().prop_map(Stat::Signed),
        "[a-z ]{0,50}".prop_map(Stat::Text),
        (0..NAMES).prop_map(Stat::Name),
    ]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let offset = prop_oneof![0i64..20, 0i64..1 << 50];
    let event = (
        0..NAMES,
        offset,
        0i64..1 << 45,
        prop::collection::vec((0..NAMES, stats()), 0..6),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(kind, offset_ps, dur_ps, stats, backwards)| Event {
            kind,
            offset_ps,
            dur_ps,
            stats,
            backwards,
        });
    (prop::collection::vec(event, 0..40), any::<bool>()).prop_map(|(mut events, sorted)| {
        if sorted {
            events.sort_by_key(|event| event.offset_ps);
        }
        events
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_goes_in_comes_out(lines in prop::collection::vec(events(), 0..5), header_last: bool) {
        let data = space(&lines, header_last);
        let mut expected: Vec<Row> = lines
            .iter()
            .enumerate()
            .flat_map(|(line, events)| events.iter().map(move |event| {
                (line as i64, 9000 + event.offset_ps, -event.dur_ps, format!("kind {}", event.kind), event.args())
            }))
            .collect();
        expected.sort();
        for threads in [1, 3] {
            let store = read(&data, threads).expect("a sound space");
            prop_assert_eq!(&slices(&store), &expected);
            prop_assert_eq!(store.facts.events_seen, expected.len() as u64);
            prop_assert_eq!(&store.facts.notes, &vec![]);
        }
    }

    #[test]
    fn any_bytes_end_in_a_result(data in prop::collection::vec(any::<u8>(), 0..400)) {
        if let Err(error) = read(&data, 2) {
            prop_assert!(matches!(error.kind, Kind::Damaged | Kind::NotThisFormat));
        }
    }

    #[test]
    fn damaged_bytes_lose_no_count(
        lines in prop::collection::vec(events(), 1..4),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
        shorten: bool,
    ) {
        let mut data = space(&lines, false);
        for (at, byte) in &damage {
            let at = at.index(data.len());
            data[at] = *byte;
        }
        if shorten {
            data.truncate(cut.index(data.len()));
        }
        if let Ok(store) = read(&data, 2) {
            let facts = &store.facts;
            prop_assert_eq!(facts.events_seen, facts.events_stored + facts.events_lost);
            let rows = store.rows("slice").expect("a table");
            prop_assert_eq!(rows.len() as u64, facts.events_stored);
            prop_assert!(rows.iter().all(|row| int(&row["self_ps"]) >= 0));
        }
    }
}

#[test]
fn a_line_longer_than_a_piece_keeps_its_order() {
    let event = |index: i64| Event {
        kind: 1,
        offset_ps: index / 5 * 1000,
        dur_ps: (index * 7919) % 900,
        stats: vec![
            (1, Stat::Unsigned(u64::MAX - index as u64)),
            (2, Stat::Text("x".repeat(index as usize % 90))),
        ],
        backwards: false,
    };
    let lines: Vec<Vec<Event>> = vec![(0..40_000).map(event).collect(), (0..10).rev().map(event).collect()];
    let data = space(&lines, false);
    assert!(data.len() > 2 << 20);
    let one = read(&data, 1).expect("a sound space");
    let many = read(&data, 8).expect("a sound space");
    assert_eq!(one.rows("slice").expect("a table"), many.rows("slice").expect("a table"));
    assert_eq!(slices(&one).len(), 40_010);
    let rows = one.rows("slice").expect("a table");
    let keys: Vec<(i64, i64)> =
        rows[..40_000].iter().map(|row| (int(&row["ts_ps"]), -int(&row["dur_ps"]))).collect();
    assert!(keys.is_sorted());
}

#[test]
fn args_are_the_same_in_a_folder_as_in_memory() {
    // Long args, stretches without any, and events so short that a piece holds more than a batch of them.
    let event = |index: i64, stats: Vec<(u64, Stat)>| Event {
        kind: 1,
        offset_ps: index * 10,
        dur_ps: 5,
        stats,
        backwards: false,
    };
    let lines: Vec<Vec<Event>> = vec![
        (0..30_000)
            .map(|index| match index / 4096 % 3 {
                1 => event(index, Vec::new()),
                0 => event(index, vec![(2, Stat::Text("x".repeat(index as usize % 90)))]),
                _ => event(index, vec![(1, Stat::Unsigned(index as u64)), (3, Stat::Name(4))]),
            })
            .collect(),
        (0..60_000).map(|index| event(index, vec![(1, Stat::Unsigned(index as u64 % 100))])).collect(),
        (0..10_000).map(|index| event(index - index % 7, vec![(1, Stat::Unsigned(7))])).rev().collect(),
        (0..50_000).map(|index| event(index, Vec::new())).collect(),
    ];
    let data = space(&lines, false);
    let expected = read(&data, 1).expect("a sound space").rows("slice").expect("a table");
    assert_eq!(expected.len(), 150_000);
    let folder = std::env::temp_dir().join(format!("stepscope-xplane-{}", std::process::id()));
    for threads in [1, 2, 8] {
        std::fs::create_dir(&folder).expect("a new folder");
        let options = Options { threads, folder: Some(folder.clone()), ..Options::default() };
        let input = Input::bytes(data.clone(), Codec::Plain);
        decode("xplane", &input, &options).expect("a sound space");
        let store = stepscope_core::open(&folder).expect("what was written");
        assert!(store.rows("slice").expect("a table") == expected, "{threads} threads");
        std::fs::remove_dir_all(&folder).expect("the folder");
    }
}

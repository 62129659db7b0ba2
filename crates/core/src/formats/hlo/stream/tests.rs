//! A text that is read in pieces says the same as one that is read as a whole.

use super::super::{module, summary, tests::LOOP};
use super::*;

/// What walking says, as text; none where the order does not allow it.
fn walked(text: &[u8], piece: usize) -> Option<Result<String>> {
    let found = walk(text, text.len() as u64, piece, &mut |_| Ok(()));
    let told = |found: Walked| format!("{:?} {:?}", found.summary, found.times);
    found.map(|found| found.map(told)).transpose()
}

fn whole(text: &[u8]) -> Result<String> {
    let costs = super::super::cost::costs(&module(text)?);
    let summary = summary::summary(text.to_vec())?;
    Ok(format!("{summary:?} {:?}", costs.times))
}

fn is_same(text: &[u8]) {
    for piece in [70, 300, PIECE] {
        let Some(found) = walked(text, piece) else {
            continue;
        };
        match (found, whole(text)) {
            (Ok(found), Ok(wanted)) => assert_eq!(found, wanted),
            (found, wanted) => assert_eq!(
                found.map_err(|error| error.kind),
                wanted.map_err(|error| error.kind)
            ),
        }
    }
}

#[test]
fn a_text_in_pieces_is_the_whole() {
    assert!(walked(LOOP.as_bytes(), 70).is_some());
    is_same(LOOP.as_bytes());
    let untold = LOOP.replace(", backend_config={\"known_trip_count\":{\"n\":\"5\"}}", "");
    is_same(untold.as_bytes());
    is_same(untold.replace("add(%i, %one)", "add(%i, %two)").as_bytes());
    is_same(LOOP.replace("ROOT ", "").as_bytes());
    is_same(LOOP.replace("%zero = ", "what is this? {\n").as_bytes());
    is_same(LOOP.replace('\n', "\r\n").as_bytes());
    let donated =
        "is_scheduled=true, buffer_donor={ (0, {}), (0, {1}), (9, {}) }, num_partitions=4";
    is_same(LOOP.replace("is_scheduled=true", donated).as_bytes());
}

#[test]
fn any_cut_and_any_changed_byte_is_told_alike() {
    let text = LOOP.as_bytes();
    for at in 0..text.len() {
        is_same(&text[..at]);
        for byte in b"{}(\"%,=\n /" {
            let mut changed = text.to_vec();
            changed[at] = *byte;
            is_same(&changed);
        }
    }
}

#[test]
fn what_stands_behind_its_use_is_left_to_others() {
    let (head, rest) = LOOP.split_once("%body (p").expect("a body");
    let (condition, main) = rest.split_once("ENTRY").expect("an entry");
    let turned = format!("{head}ENTRY{main}\n%body (p{condition}");
    assert!(walked(turned.as_bytes(), PIECE).is_none());
    assert!(whole(turned.as_bytes()).is_ok());
    let ahead = LOOP.replace("tanh(%x)", "tanh(%t)");
    assert!(walked(ahead.as_bytes(), PIECE).is_none());
    let itself = LOOP.replace("condition=%condition", "condition=%main");
    assert!(walked(itself.as_bytes(), PIECE).is_none());
    let twice = LOOP.replace("%condition (q", "%body (q");
    assert!(walked(twice.as_bytes(), PIECE).is_none());
}

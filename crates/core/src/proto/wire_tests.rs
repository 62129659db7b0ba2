//! Wire format: what protobuf takes is taken, what it refuses is refused.

use super::*;
use proptest::prelude::*;

fn encode(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn all(bytes: &[u8]) -> Result<Vec<(u32, Value<'_>)>, Damage> {
    Fields::new(bytes, 0).map(|field| field.map(|field| (field.number, field.value))).collect()
}

proptest! {
    #[test]
    fn varints_come_back(value: u64, before in 0usize..3, after in prop::collection::vec(any::<u8>(), 0..12)) {
        let mut bytes = vec![0; before];
        let code = encode(value);
        bytes.extend(&code);
        bytes.extend(after);
        let mut at = before;
        prop_assert_eq!(varint(&bytes, &mut at), Some(value));
        prop_assert_eq!(at, before + code.len());
    }

    #[test]
    fn all_readers_of_varints_agree(bytes in prop::collection::vec(prop_oneof![0u8..3, 0x7eu8..0x83, any::<u8>()], 0..24), at in 0usize..14, length in 0usize..14) {
        let (mut one, mut other) = (at, at);
        prop_assert_eq!(varint(&bytes, &mut one), mixed_varint(&bytes, &mut other));
        prop_assert_eq!(one, other);
        let end = at + length;
        if let Some(sixteen) = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
            let short = short_varint(u128::from_le_bytes(*sixteen), length);
            let mut next = at;
            let expected = varint(&bytes[..end], &mut next).filter(|_| next == end);
            prop_assert_eq!(short.is_some(), expected.is_some());
            if length <= 8 {
                prop_assert_eq!(short, expected);
            }
        }
    }

    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut end = 0;
        for field in Fields::new(&bytes, 7).flatten() {
            prop_assert!(field.offset >= end && field.body > field.offset);
            end = field.body + field.bytes().map_or(0, |payload| payload.len() as u64);
            prop_assert!(end <= 7 + bytes.len() as u64);
            field.varints().for_each(drop);
        }
    }
}

#[test]
fn overlong_numbers_are_read_as_protobuf_reads_them() {
    let ten = [&[0xff; 9][..], &[0x7f]].concat();
    assert_eq!(varint(&ten, &mut 0), Some(u64::MAX));
    assert_eq!(varint(&[0xff; 10], &mut 0), None);
    assert_eq!(varint(&[0x81, 0x80, 0x00], &mut 0), Some(1));
    assert_eq!(varint(&[], &mut 0), None);
    assert_eq!(varint(&[0x80], &mut 0), None);
}

#[test]
fn refuses_what_protobuf_refuses() {
    for bytes in [
        &b"\x00\x05"[..],                                // field 0
        b"\x0e\x05",                                     // wire type 6
        b"\x88\x80\x80\x80\x80\x00\x05",                 // tag of six bytes
        b"\x88\x80\x80\x80\x10\x05",                     // tag over 32 bits
        b"\x22\x05\x08",                                 // too short
        b"\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", // length of 2^64-1
        b"\x22\x82\x80\x80\x80\x80\x00\x08\x05",         // length of six bytes
        b"\x7b\x08\x05",                                 // open group
        b"\x7c",                                         // end without a group
        b"\x7b\x08\x05\x74",                             // end of another group
        b"\x09\x01\x02",                                 // fixed64 cut short
        b"\x0d\x01",                                     // fixed32 cut short
    ] {
        assert!(all(bytes).is_err(), "{bytes:?}");
    }
    assert!(all(&[[0x7b; 101], [0x7c; 101]].concat()).is_err());
}

#[test]
fn reads_what_protobuf_reads() {
    assert_eq!(all(b"\x88\x80\x80\x80\x00\x05"), Ok(vec![(1, Value::Varint(5))]));
    assert_eq!(all(b"\x22\x82\x80\x80\x80\x00\x08\x05"), Ok(vec![(4, Value::Bytes(b"\x08\x05"))]));
    assert_eq!(all(b"\x7b\x08\x05\x7c\x08\x06"), Ok(vec![(1, Value::Varint(6))]));
    assert_eq!(all(&[[0x7b; 100], [0x7c; 100]].concat()), Ok(vec![]));
    assert_eq!(all(b"\xf8\xff\xff\xff\x0f\x05"), Ok(vec![(0x1fff_ffff, Value::Varint(5))]));
}

#[test]
fn damage_has_its_place() {
    let mut fields = Fields::new(b"\x08\x01\x12\x02\x08", 100);
    assert_eq!(fields.next().unwrap().unwrap().offset, 100);
    assert_eq!(fields.next().unwrap().unwrap_err().offset, 102);
    assert!(fields.next().is_none());
}

#[test]
fn repeated_numbers_packed_and_not() {
    let packed = Fields::new(b"\x0a\x03\x01\xac\x02", 0).next().unwrap().unwrap();
    assert_eq!(packed.varints().collect::<Result<Vec<_>, _>>(), Ok(vec![1, 300]));
    let single = Fields::new(b"\x08\x07", 0).next().unwrap().unwrap();
    assert_eq!(single.varints().collect::<Result<Vec<_>, _>>(), Ok(vec![7]));
    let cut = Fields::new(b"\x0a\x02\x01\xac", 0).next().unwrap().unwrap();
    assert!(cut.varints().last().unwrap().is_err());
}

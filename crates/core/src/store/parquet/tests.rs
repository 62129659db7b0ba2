//! Encodings against decoders written from the specification, and what readers must be spared.

use super::packing::{bits, deltas, hybrid, width};
use super::page::{Packer, Pages};
use super::statistics::{numbers, texts};
use super::{Encoding, Kind, distinct};
use crate::error::Kind as Failure;
use proptest::prelude::*;
use std::collections::HashMap;

/// A reader of bytes and bits.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let first = self.0[0];
        self.0 = &self.0[1..];
        first
    }

    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn zigzag(&mut self) -> i64 {
        let value = self.varint();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    /// So many numbers of `width` bits, bit by bit.
    fn packed(&mut self, count: usize, width: usize) -> Vec<u64> {
        let bit = |at: usize| u64::from(self.0[at / 8] >> (at % 8) & 1);
        let number = |i: usize| (0..width).fold(0, |value, at| value | bit(i * width + at) << at);
        let values = (0..count).map(number).collect();
        self.0 = &self.0[(count * width).div_ceil(8)..];
        values
    }
}

fn unhybrid(bytes: &[u8], rows: usize, width: u32) -> Vec<u32> {
    let (mut bytes, mut out) = (Bytes(bytes), Vec::new());
    while out.len() < rows {
        let head = bytes.varint();
        let count = (head >> 1) as usize;
        assert!(count > 0);
        if head & 1 == 1 {
            let values = bytes.packed(count * 8, width as usize);
            out.extend(values.iter().map(|value| *value as u32));
        } else {
            let value = (0..width.div_ceil(8))
                .fold(0, |value, i| value | u32::from(bytes.byte()) << (8 * i));
            out.extend(std::iter::repeat_n(value, count));
        }
    }
    assert!(bytes.0.is_empty() && out.len() < rows + 8);
    out.truncate(rows);
    out
}

fn undeltas(bytes: &[u8], narrow: bool) -> Vec<i64> {
    let mut bytes = Bytes(bytes);
    let (block, minis, count) = (bytes.varint(), bytes.varint(), bytes.varint() as usize);
    let mini = (block / minis) as usize;
    let mut value = bytes.zigzag();
    let mut out = vec![value];
    while out.len() < count {
        let least = bytes.zigzag();
        let widths: Vec<u8> = (0..minis).map(|_| bytes.byte()).collect();
        for width in widths {
            if out.len() >= count {
                assert_eq!(width, 0, "a miniblock behind the last value");
                continue;
            }
            for above in bytes.packed(mini, usize::from(width)) {
                value = value.wrapping_add(least).wrapping_add(above as i64);
                if narrow {
                    value = i64::from(value as i32);
                }
                out.push(value);
            }
        }
    }
    assert!(bytes.0.is_empty());
    out.truncate(count);
    out
}

fn runs() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec((0..5_u32, 1..30_usize), 0..40).prop_map(|runs| {
        runs.iter()
            .flat_map(|(value, count)| std::iter::repeat_n(*value, *count))
            .collect()
    })
}

proptest! {
    #[test]
    fn the_hybrid_comes_back(values in prop_oneof![runs(), prop::collection::vec(any::<u32>(), 0..300)]) {
        let least = width(values.iter().max().map_or(0, |most| u64::from(*most))).max(1);
        for width in [least, 32] {
            let mut out = Vec::new();
            hybrid(&mut out, &values, width);
            prop_assert_eq!(unhybrid(&out, values.len(), width), values.clone());
        }
    }

    #[test]
    fn levels_come_back(values in prop::collection::vec(any::<bool>(), 1..300)) {
        let mut packed = vec![0xff; values.len().div_ceil(8)];
        for (i, value) in values.iter().enumerate() {
            if !value {
                packed[i / 8] &= !(1 << (i % 8));
            }
        }
        let mut out = Vec::new();
        bits(&mut out, &packed, values.len());
        let wanted: Vec<u32> = values.iter().map(|value| u32::from(*value)).collect();
        prop_assert_eq!(unhybrid(&out, values.len(), 1), wanted);
        let spare = values.len().div_ceil(8) * 8 - values.len();
        prop_assert_eq!(u32::from(*out.last().unwrap_or(&0)) >> (8 - spare), 0, "bits behind the last row");
    }

    #[test]
    fn deltas_come_back(values in prop_oneof![
        prop::collection::vec(any::<i64>(), 1..400),
        prop::collection::vec(-3..3_i64, 1..400),
        prop::collection::vec(prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0)], 1..400),
        (any::<i64>(), 1..400_i64).prop_map(|(first, count)| (0..count).map(|i| first.wrapping_add(i)).collect()),
    ]) {
        let mut out = Vec::new();
        deltas(&mut out, &values, false);
        prop_assert_eq!(undeltas(&out, false), values.clone());
        let narrow: Vec<i64> = values.iter().map(|value| i64::from(*value as i32)).collect();
        out.clear();
        deltas(&mut out, &narrow, true);
        prop_assert_eq!(undeltas(&out, true), narrow);
    }

    #[test]
    fn codes_stand_for_their_values(values in prop::collection::vec(prop_oneof![0..9_u64, any::<u64>()], 0..3000)) {
        let (codes, found) = distinct::codes(&values, values.len()).expect("no more distinct than values");
        let back: Vec<u64> = codes.iter().map(|code| found[*code as usize]).collect();
        prop_assert_eq!(&back, &values);
        let twin: HashMap<u64, ()> = values.iter().map(|value| (*value, ())).collect();
        prop_assert_eq!(found.len(), twin.len());
        if found.len() > 1 {
            prop_assert!(distinct::codes(&values, found.len() - 1).is_none());
        }
    }
}

#[test]
fn nothing_has_its_encodings_too() {
    let mut out = Vec::new();
    hybrid(&mut out, &[], 3);
    assert!(out.is_empty());
    deltas(&mut out, &[], false);
    assert_eq!(out, [128, 1, 4, 0, 0]);
}

#[test]
fn bounds_are_those_of_the_type() {
    let bounds = |kind, values: &[u64]| numbers(kind, values, 0).bounds;
    let eight = |value: u64| value.to_le_bytes().to_vec();
    let minus = -5_i64 as u64;
    assert_eq!(
        bounds(Kind::I64, &[3, minus]),
        Some((eight(minus), eight(3)))
    );
    let real = |value: f64| value.to_bits();
    assert_eq!(
        bounds(Kind::F64, &[real(0.0), real(-0.0)]),
        Some((eight(real(-0.0)), eight(real(0.0))))
    );
    assert_eq!(bounds(Kind::F64, &[real(f64::NAN), real(1.0)]), None);
    assert_eq!(bounds(Kind::I64, &[]), None);
    let long = "x".repeat(65);
    let of = |values: &[&str]| texts(values.iter().map(|text| text.as_bytes()), 0).bounds;
    assert_eq!(of(&["é", "b"]), Some((b"b".to_vec(), "é".into())));
    assert_eq!(of(&["b", &long]), None);
}

#[test]
fn a_page_that_parquet_cannot_hold_is_an_error() {
    let mut packer = Packer::new().expect("memory");
    let mut pages = Pages::new(&mut packer);
    // Incompressible at first, so that two gigabytes of zeros are not compressed for this.
    let noise = |body: &mut Vec<u8>| body.extend((0..100_u8).map(|i| i.wrapping_mul(167) ^ i >> 3));
    pages.data(Encoding::Plain, 1, noise).expect("a small page");
    let huge = pages.data(Encoding::Plain, 1, |body| body.resize(1 << 31, 0));
    let error = huge.expect_err("more than a page can hold");
    assert_eq!(error.kind, Failure::Limit);
    let most = pages.data(Encoding::Plain, 1 << 31, |_| {});
    assert_eq!(most.expect_err("more rows than fit").kind, Failure::Limit);
}

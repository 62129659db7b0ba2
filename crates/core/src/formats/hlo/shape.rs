//! Shapes: what an array is of, how large it is, how it lies in memory.

use crate::error::{Error, Kind, Result};
use std::fmt;

/// Element types: number in the proto, name in text, bits of an element.
const ELEMENTS: [(u8, &str, u16); 35] = [
    (0, "invalid", 0),
    (1, "pred", 8),
    (2, "s8", 8),
    (3, "s16", 16),
    (4, "s32", 32),
    (5, "s64", 64),
    (6, "u8", 8),
    (7, "u16", 16),
    (8, "u32", 32),
    (9, "u64", 64),
    (10, "f16", 16),
    (11, "f32", 32),
    (12, "f64", 64),
    (13, "tuple", 0),
    (14, "opaque", 64),
    (15, "c64", 64),
    (16, "bf16", 16),
    (17, "token", 0),
    (18, "c128", 128),
    (19, "f8e5m2", 8),
    (20, "f8e4m3fn", 8),
    (21, "s4", 8),
    (22, "u4", 8),
    (23, "f8e4m3b11fnuz", 8),
    (24, "f8e5m2fnuz", 8),
    (25, "f8e4m3fnuz", 8),
    (26, "s2", 8),
    (27, "u2", 8),
    (28, "f8e4m3", 8),
    (29, "f8e3m4", 8),
    (30, "s1", 8),
    (31, "u1", 8),
    (32, "f4e2m1fn", 8),
    (33, "f8e8m0fnu", 8),
    (34, "b", 0),
];

/// A type of elements, by its number in the proto; 0 where it is none that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Element(u8);

impl Element {
    /// The element of tuples.
    pub const TUPLE: Element = Element(13);

    /// By its number in the proto.
    pub fn of_number(number: u64) -> Self {
        let known = usize::try_from(number).is_ok_and(|at| at < ELEMENTS.len());
        Element(if known { number as u8 } else { 0 })
    }

    /// By its name in text.
    pub fn of_name(name: &[u8]) -> Self {
        let found = ELEMENTS.iter().find(|one| one.1.as_bytes() == name);
        Element(found.map_or(0, |one| one.0))
    }

    /// Its name in text.
    pub fn name(self) -> &'static str {
        ELEMENTS[self.0 as usize].1
    }

    /// Bits that an element takes where the layout says nothing else.
    pub fn bits(self) -> u16 {
        ELEMENTS[self.0 as usize].2
    }
}

/// How an array lies in memory, where it is not the usual row-major way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Layout {
    /// Dimensions from the one that varies fastest.
    pub minor_to_major: Vec<i64>,
    /// Tiles.
    pub tiles: Vec<Vec<i64>>,
    /// Bits of an element; 0 for the usual.
    pub bits: u16,
    /// Memory space; 0 is the device's main memory.
    pub space: i64,
}

/// The shape of a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape {
    /// Type of the elements.
    pub element: Element,
    /// Sizes of the dimensions; bounds where they are dynamic.
    pub dims: Box<[i64]>,
    /// Which dimensions are dynamic: a bit each, for the first 64.
    pub dynamic: u64,
    /// Where it is not row-major. Boxed, because it is rare.
    pub layout: Option<Box<Layout>>,
    /// The parts of a tuple.
    pub parts: Box<[Shape]>,
}

impl Shape {
    /// Whether it is a tuple.
    pub fn is_tuple(&self) -> bool {
        self.element == Element::TUPLE
    }

    /// Number of elements of an array. No file can make it overflow.
    pub fn elements(&self) -> f64 {
        if self.is_tuple() {
            return 0.0;
        }
        self.dims.iter().map(|&dim| dim.max(0) as f64).product()
    }

    /// Bytes of an array; 0 for tuples and tokens.
    fn own_bytes(&self) -> f64 {
        let narrow = self.layout.as_ref().map_or(0, |layout| layout.bits);
        let bits = if narrow > 0 { narrow } else { self.element.bits() };
        (self.elements() * f64::from(bits) / 8.0).ceil()
    }

    /// Sums something over all arrays in it.
    fn over_leaves(&self, of: &impl Fn(&Shape) -> f64) -> f64 {
        if self.is_tuple() {
            return self.parts.iter().map(|part| part.over_leaves(of)).sum();
        }
        of(self)
    }

    /// Bytes of all arrays in it.
    pub fn bytes(&self) -> f64 {
        self.over_leaves(&Shape::own_bytes)
    }

    /// Elements of all arrays in it.
    pub fn all_elements(&self) -> f64 {
        self.over_leaves(&Shape::elements)
    }

    /// Itself, or the first part of a tuple.
    pub fn first(&self) -> &Shape {
        if self.is_tuple() { self.parts.first().unwrap_or(self) } else { self }
    }

    /// Size of a dimension; 1 where it has none of this number.
    pub fn dim(&self, at: i64) -> f64 {
        let at = usize::try_from(at).ok();
        at.and_then(|at| self.dims.get(at)).map_or(1.0, |&dim| dim.max(0) as f64)
    }

    /// The `place`-th fastest dimension.
    fn minor(&self, place: usize) -> Option<i64> {
        match &self.layout {
            Some(layout) if !layout.minor_to_major.is_empty() => layout.minor_to_major.get(place).copied(),
            _ => (self.dims.len().checked_sub(place + 1)).map(|at| at as i64),
        }
    }

    /// Whether transposing `self` into `made` moves no byte: the layouts already say the same.
    pub fn transposes_freely(&self, made: &Shape, dimensions: &[i64]) -> bool {
        let rank = self.dims.len();
        rank == made.dims.len()
            && rank == dimensions.len()
            && (0..rank).all(|place| {
                let moved = made.minor(place).and_then(|at| dimensions.get(usize::try_from(at).ok()?));
                moved.copied() == self.minor(place)
            })
    }

    /// Keeps a layout if it says more than the usual one.
    pub fn lay(&mut self, layout: Layout) {
        let rank = self.dims.len();
        let usual = layout.minor_to_major.is_empty()
            || layout.minor_to_major.iter().rev().copied().eq(0..rank as i64);
        let layout =
            Layout { minor_to_major: if usual { Vec::new() } else { layout.minor_to_major }, ..layout };
        self.layout = (layout != Layout::default()).then(|| Box::new(layout));
    }
}

fn list(f: &mut fmt::Formatter<'_>, numbers: impl Iterator<Item = i64>) -> fmt::Result {
    for (at, number) in numbers.enumerate() {
        write!(f, "{}{number}", if at == 0 { "" } else { "," })?;
    }
    Ok(())
}

impl fmt::Display for Shape {
    /// As text of HLO has it: `f32[8,16]{1,0}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_tuple() {
            f.write_str("(")?;
            for (at, part) in self.parts.iter().enumerate() {
                write!(f, "{}{part}", if at == 0 { "" } else { ", " })?;
            }
            return f.write_str(")");
        }
        write!(f, "{}[", self.element.name())?;
        for (at, dim) in self.dims.iter().enumerate() {
            let bound = at < 64 && self.dynamic >> at & 1 == 1;
            write!(f, "{}", if at == 0 { "" } else { "," })?;
            write!(f, "{}{dim}", if bound { "<=" } else { "" })?;
        }
        f.write_str("]")?;
        let special = self
            .layout
            .as_deref()
            .filter(|layout| !layout.tiles.is_empty() || layout.bits != 0 || layout.space != 0);
        if self.dims.is_empty() && special.is_none() {
            return Ok(());
        }
        f.write_str("{")?;
        list(f, (0..self.dims.len()).filter_map(|place| self.minor(place)))?;
        if let Some(layout) = special {
            f.write_str(":")?;
            for (at, tile) in layout.tiles.iter().enumerate() {
                f.write_str(if at == 0 { "T(" } else { "(" })?;
                list(f, tile.iter().copied())?;
                f.write_str(")")?;
            }
            if layout.bits != 0 {
                write!(f, "E({})", layout.bits)?;
            }
            if layout.space != 0 {
                write!(f, "S({})", layout.space)?;
            }
        }
        f.write_str("}")
    }
}

/// What may still be made of a file: each shape, instruction and name in a list costs one. Without it a few bytes
/// that say "a tuple of a million empty tuples" would take a hundred times their size.
#[derive(Debug, Clone)]
pub struct Budget(usize);

impl Budget {
    /// Tuples in tuples.
    pub const DEPTH: usize = 64;
    /// Of a text of 1 GB and more: an instruction takes five of its 130 bytes' worth.
    const MOST: usize = 100_000_000;

    /// The budget of a file with so many bytes.
    pub fn of(bytes: usize) -> Self {
        Budget((bytes / 3 + 64).min(Self::MOST))
    }

    /// Takes from it. A limit is an error with its place.
    pub fn take(&mut self, number: usize, offset: u64) -> Result<()> {
        let seen = "more shapes and instructions than any program has";
        self.0 = self.0.checked_sub(number).ok_or_else(|| Error::at(Kind::Limit, offset, seen))?;
        Ok(())
    }
}

//! Values as tfprof prints them: rows in brackets, two digits, and no more than ten thousand characters.

use super::dtype::{Number, number};
use super::{Tensor, Values, dtype};

/// Characters after which nothing more is shown.
const SHOWN: usize = 10_000;

/// The types that tfprof shows: float32, float64, int32, int64, texts.
pub fn is_shown(dtype: i64) -> bool {
    matches!(dtype, 1 | 2 | 3 | 7 | 9)
}

/// The text of a tensor, byte for byte as TensorFlow 2.21 prints it.
pub fn print(tensor: &Tensor, values: &Values) -> String {
    let mut text = Text { out: Vec::new(), next: 0, is_full: false };
    let write = |at: usize, out: &mut Vec<u8>| match values {
        Values::Texts(texts) => {
            out.push(b'\'');
            out.extend_from_slice(texts.get(at).map_or(&[], Vec::as_slice));
            out.extend_from_slice(b"' ");
        }
        Values::Fixed(bytes) => {
            let size = dtype::element_bytes(tensor.dtype).unwrap_or(1) as usize;
            let element = bytes.get(at * size..(at + 1) * size).unwrap_or_default();
            match number(tensor.dtype, element) {
                Some(Number::Real(value)) => out.extend(format!("{} ", real(value)).bytes()),
                Some(Number::Whole(value)) => out.extend(format!("{value} ").bytes()),
                _ => {}
            }
        }
    };
    text.rows(&tensor.shape, &write);
    let mut out = text.out;
    if out.len() >= SHOWN {
        out.extend_from_slice(b"...omitted from display\n\n");
    }
    String::from_utf8_lossy(&out).into_owned()
}

struct Text {
    out: Vec<u8>,
    next: usize,
    /// Nothing that is still to come can be seen.
    is_full: bool,
}

impl Text {
    fn rows(&mut self, shape: &[u64], write: &dyn Fn(usize, &mut Vec<u8>)) {
        // Dimensions still to go through, each with how many are left.
        let mut open = vec![(shape, shape.first().copied().unwrap_or(1))];
        self.out.push(b'[');
        while let Some((dims, left)) = open.last_mut() {
            if *left == 0 || self.is_full {
                open.pop();
                self.close();
                continue;
            }
            *left -= 1;
            match dims {
                [] | [_] => {
                    write(self.next, &mut self.out);
                    self.next += 1;
                    // The rest of a row that is cut anyway need not be written.
                    self.is_full = self.out.len() > SHOWN;
                }
                [_, below @ ..] => {
                    let below: &[u64] = below;
                    self.out.push(b'[');
                    open.push((below, below.first().copied().unwrap_or(1)));
                }
            }
        }
    }

    fn close(&mut self) {
        if self.out.len() > SHOWN {
            self.out.truncate(SHOWN);
            self.is_full = true;
        }
        self.out.extend_from_slice(b"],\n");
    }
}

/// Two digits of what is left of a number after six significant ones: it goes through a text on its way.
fn real(value: f64) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan".into() } else { "nan".into() };
    }
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    format!("{rounded:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(shape: &[u64], values: &[f32]) -> String {
        let tensor = Tensor { name: "t".into(), dtype: 1, shape: shape.to_vec(), bytes: None, slices: 1 };
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        print(&tensor, &Values::Fixed(bytes))
    }

    #[test]
    fn rows_stand_in_brackets() {
        assert_eq!(floats(&[], &[1.5]), "[1.50 ],\n");
        assert_eq!(floats(&[2, 2], &[1.0, 2.0, 3.0, -0.004]), "[[1.00 2.00 ],\n[3.00 -0.00 ],\n],\n");
        assert_eq!(floats(&[0], &[]), "[],\n");
        assert_eq!(floats(&[2, 0], &[]), "[[],\n[],\n],\n");
        assert_eq!(floats(&[1], &[1_234_567.0]), "[1234570.00 ],\n");
    }

    #[test]
    fn long_texts_are_cut() {
        let text = floats(&[3000], &vec![1.0; 3000]);
        assert_eq!(text.len(), 10_000 + 3 + 25);
        assert!(text.ends_with("],\n...omitted from display\n\n"));
    }
}

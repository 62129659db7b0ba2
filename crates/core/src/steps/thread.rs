//! What a thread does at each instant, from its slices.

use super::Label;
use super::sweep::Segment;

/// What a slice stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meaning {
    /// None for a slice that says nothing.
    pub label: Option<Label>,
    /// It holds for all within, too, whatever that stands for.
    pub whole: bool,
}

impl Meaning {
    /// What `inner` stands for inside of this.
    fn around(self, inner: Meaning) -> Meaning {
        if self.whole || inner.label.is_none() { self } else { inner }
    }
}

/// What slices that are called alike stand for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kind {
    /// What a slice of less than [`Rules::long_ps`] stands for.
    pub short: Meaning,
    /// What a longer one stands for.
    pub long: Meaning,
    /// A program is compiled in it.
    pub builds: bool,
    /// It calls a function that is compiled at need.
    pub jitted: bool,
}

/// A slice of the thread.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// When it begins.
    pub begin: i64,
    /// When it ends, later.
    pub end: i64,
    /// Number of its kind.
    pub kind: usize,
    /// A function was traced in it.
    pub traced: bool,
}

/// What holds for slices of all kinds.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// What a call stands for that traced or compiled what it calls.
    pub compiled: Meaning,
    /// From which duration on a slice is long.
    pub long_ps: i64,
}

/// What the thread does. slices: in order of begin, outer ones first. Segments are in order and disjoint, and no
/// neighbours have one label; where no slice says anything there is none. Slices that cross, as those of a thread
/// should not, are beside each other, and the later one decides: so reading a thread bit by bit changes nothing.
pub fn segments(slices: &[Slice], kinds: &[Kind], rules: Rules) -> Vec<Segment> {
    let compiled = compiled(slices, kinds);
    let mut found = Vec::new();
    let mut open: Vec<(i64, Meaning)> = Vec::new(); // end, what it stands for with all around it
    let mut at = i64::MIN;
    for (slice, compiled) in slices.iter().zip(compiled) {
        close(&mut open, slice.begin, &mut at, &mut found);
        reach(slice.begin, &open, &mut at, &mut found);
        let kind = &kinds[slice.kind];
        let own = if slice.traced || compiled {
            rules.compiled
        } else if slice.end - slice.begin >= rules.long_ps {
            kind.long
        } else {
            kind.short
        };
        let around = open.iter().rev().find(|outer| outer.0 >= slice.end);
        let around = around.map_or_else(Meaning::default, |outer| outer.1);
        open.push((slice.end, around.around(own)));
    }
    close(&mut open, i64::MAX, &mut at, &mut found);
    found
}

/// Ends the innermost slices as long as they end by then.
fn close(open: &mut Vec<(i64, Meaning)>, by: i64, at: &mut i64, found: &mut Vec<Segment>) {
    while let Some((end, _)) = open.last().copied().filter(|(end, _)| *end <= by) {
        reach(end, open, at, found);
        open.pop();
    }
}

/// Goes on to a moment, up to which nothing changes.
fn reach(moment: i64, open: &[(i64, Meaning)], at: &mut i64, found: &mut Vec<Segment>) {
    if moment <= *at {
        return;
    }
    if let Some(label) = open.last().and_then(|(_, meaning)| meaning.label) {
        match found.last_mut() {
            Some(last) if last.to == *at && last.label == label => last.to = moment,
            _ => found.push(Segment { from: *at, to: moment, label }),
        }
    }
    *at = moment;
}

/// Which slices are calls of jitted functions in which something was compiled. JAX traces the function before that,
/// in slices that do not say so.
fn compiled(slices: &[Slice], kinds: &[Kind]) -> Vec<bool> {
    let mut found = vec![false; slices.len()];
    let mut open: Vec<(i64, usize)> = Vec::new(); // end and number of such calls
    for (number, slice) in slices.iter().enumerate() {
        while open.last().is_some_and(|(end, _)| *end <= slice.begin) {
            open.pop();
        }
        let kind = &kinds[slice.kind];
        if kind.builds {
            for (_, call) in &open {
                found[*call] = true;
            }
        }
        if kind.jitted {
            open.push((slice.end, number));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COMPILED: Meaning = Meaning { label: Some(9), whole: true };
    const RULES: Rules = Rules { compiled: COMPILED, long_ps: 8 };

    fn kind(label: Label, whole: bool) -> Kind {
        let meaning = Meaning { label: Some(label), whole };
        Kind { short: meaning, long: meaning, ..Kind::default() }
    }

    fn told(slices: &[(i64, i64, usize)], kinds: &[Kind]) -> Vec<(i64, i64, Label)> {
        let slices: Vec<Slice> = slices
            .iter()
            .map(|(begin, end, kind)| Slice { begin: *begin, end: *end, kind: *kind, traced: false })
            .collect();
        segments(&slices, kinds, RULES).iter().map(|one| (one.from, one.to, one.label)).collect()
    }

    #[test]
    fn the_innermost_decides_unless_one_around_it_holds_for_all() {
        let kinds = [kind(1, false), kind(2, true), kind(3, false), Kind::default()];
        assert_eq!(told(&[(0, 9, 0), (2, 4, 2)], &kinds), [(0, 2, 1), (2, 4, 3), (4, 9, 1)]);
        assert_eq!(told(&[(0, 9, 1), (2, 4, 2)], &kinds), [(0, 9, 2)]);
        assert_eq!(told(&[(0, 9, 0), (2, 4, 3)], &kinds), [(0, 9, 1)]);
        assert_eq!(told(&[(0, 9, 3), (2, 4, 0)], &kinds), [(2, 4, 1)]);
        assert_eq!(told(&[(0, 4, 0), (2, 9, 2)], &kinds), [(0, 2, 1), (2, 9, 3)]);
    }

    #[test]
    fn a_call_in_which_something_is_compiled_compiles_from_its_begin() {
        let mut kinds = [kind(1, false), kind(2, false)];
        kinds[0].jitted = true;
        kinds[1].builds = true;
        assert_eq!(told(&[(0, 5, 0), (5, 9, 0), (6, 7, 1)], &kinds), [(0, 5, 1), (5, 9, 9)]);
    }

    proptest! {
        /// By asking each instant.
        #[test]
        fn each_instant_has_the_label_of_the_slices_around_it(
            mut slices in prop::collection::vec((0_i64..30, 1_i64..14, 0_usize..4), 0..12),
        ) {
            slices.sort_by_key(|(begin, long, _)| (*begin, -long));
            let slices: Vec<_> = slices.iter().map(|(begin, long, kind)| (*begin, begin + long, *kind)).collect();
            let long = Meaning { label: Some(5), whole: false };
            let kinds = [kind(1, false), kind(2, true), Kind { long, ..kind(3, false) }, Kind::default()];
            let mut meanings: Vec<Meaning> = Vec::new();
            for (number, (begin, end, own)) in slices.iter().enumerate() {
                let own = if end - begin >= RULES.long_ps { kinds[*own].long } else { kinds[*own].short };
                let outer = (0..number).rev().find(|other| slices[*other].1 >= *end);
                let outer = outer.map_or_else(Meaning::default, |other| meanings[other]);
                meanings.push(outer.around(own));
            }
            let found = told(&slices, &kinds);
            for at in 0..50 {
                let inside = |number: &usize| slices[*number].0 <= at && at < slices[*number].1;
                let wanted = (0..slices.len()).rev().find(inside).and_then(|number| meanings[number].label);
                let seen: Vec<Label> =
                    found.iter().filter(|(from, to, _)| *from <= at && at < *to).map(|one| one.2).collect();
                prop_assert_eq!(seen, wanted.into_iter().collect::<Vec<_>>());
            }
        }
    }
}

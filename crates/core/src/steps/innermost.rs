//! The innermost slice that is open at each of some moments, and the line of the program that it belongs to.

/// What a slice tells of lines of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// The slice is not a Python call.
    Unknown,
    /// A call of a framework's code.
    OfFramework,
    /// A call of the program's own code.
    OfProgram,
}

/// A slice of a thread. Slices come thread by thread and in order of their begin, outer ones first.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// The thread.
    pub thread: i64,
    /// When it begins.
    pub begin: i64,
    /// When it ends.
    pub end: i64,
    /// How many slices lie around it.
    pub depth: usize,
    /// The number of its name.
    pub name: usize,
    /// What the name tells.
    pub line: Line,
}

/// The name of the innermost slice, and that of the innermost call of the program's own code around it, or else of
/// any code.
pub type Around = (usize, Option<usize>);

#[derive(Debug, Clone, Copy)]
struct Open {
    end: i64,
    name: usize,
    of_program: Option<usize>,
    of_any: Option<usize>,
}

/// Moments with what is open at them.
#[derive(Debug)]
pub struct Innermost<'a> {
    /// Threads and times, in this order.
    moments: &'a [(i64, i64)],
    found: Vec<Option<Around>>,
    thread: Option<i64>,
    open: Vec<Open>,
}

impl<'a> Innermost<'a> {
    /// Moments are threads and times, in this order.
    pub fn new(moments: &'a [(i64, i64)]) -> Self {
        Self { moments, found: Vec::with_capacity(moments.len()), thread: None, open: Vec::new() }
    }

    /// Adds a slice.
    pub fn add(&mut self, slice: &Slice) {
        self.answer_before((slice.thread, slice.begin));
        if self.thread != Some(slice.thread) {
            self.thread = Some(slice.thread);
            self.open.clear();
        }
        // A slice at the same depth had ended when this one began.
        self.open.truncate(slice.depth);
        let outer = self.open.last();
        let (of_program, of_any) = outer.map_or((None, None), |one| (one.of_program, one.of_any));
        let called = Some(slice.name);
        let (of_program, of_any) = match slice.line {
            Line::Unknown => (of_program, of_any),
            Line::OfFramework => (of_program, called),
            Line::OfProgram => (called, called),
        };
        let (end, name) = (slice.end, slice.name);
        self.open.push(Open { end, name, of_program, of_any });
    }

    /// What is open at each moment; `None` between slices. A slice is open until its end, that included.
    pub fn finish(mut self) -> Vec<Option<Around>> {
        self.answer_before((i64::MAX, i64::MAX));
        self.found.resize(self.moments.len(), None); // a moment at the very end of time
        self.found
    }

    fn answer_before(&mut self, limit: (i64, i64)) {
        while let Some(&(thread, moment)) = self.moments.get(self.found.len()) {
            if (thread, moment) >= limit {
                return;
            }
            let around = (self.thread == Some(thread)).then(|| self.at(moment));
            self.found.push(around.flatten());
        }
    }

    fn at(&mut self, moment: i64) -> Option<Around> {
        // An outer slice ends no sooner than those inside it.
        while self.open.pop_if(|one| one.end < moment).is_some() {}
        let inner = self.open.last()?;
        Some((inner.name, inner.of_program.or(inner.of_any)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_slice_is_named_and_the_line_around_it() {
        let moments = [(0, 5), (0, 10), (0, 25), (0, 40), (0, 41), (0, 70), (0, 101), (1, 20), (2, 20)];
        let mut found = Innermost::new(&moments);
        let rows = [
            (0, 10, 100, 0, 0, Line::OfProgram),
            (0, 20, 40, 1, 1, Line::Unknown),
            (0, 22, 30, 2, 2, Line::OfFramework),
            (0, 32, 38, 2, 3, Line::Unknown),
            (0, 60, 80, 1, 4, Line::OfProgram),
            (2, 10, 30, 0, 2, Line::OfFramework),
            (2, 12, 30, 1, 3, Line::Unknown),
        ];
        for (thread, begin, end, depth, name, line) in rows {
            found.add(&Slice { thread, begin, end, depth, name, line });
        }
        assert_eq!(
            found.finish(),
            [
                None,               // before all slices
                Some((0, Some(0))), // as the first begins
                Some((2, Some(0))), // the program's own line counts, though a framework's is nearer
                Some((1, Some(0))), // a slice is open until its end
                Some((0, Some(0))),
                Some((4, Some(4))), // the nearest of the program's own lines
                None,
                None,               // a thread without slices
                Some((3, Some(2))), // no line is the program's own
            ]
        );
    }
}

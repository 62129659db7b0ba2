//! Which slice lies in which: depth, parent and self time, track by track.
//!
//! Slices come in nesting order: by start, the longer first, then in the order of the file. A slice is
//! the child of the innermost slice that contains it wholly. Where two overlap partly, the later one is
//! no child of the earlier, and the time they share belongs to the later, which lies on top.

/// Depth, parent and self time of slices, and of the slices that were still open before them.
#[derive(Debug, Default)]
pub struct Nester {
    open: Vec<Open>,
    cursor_ps: i64,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    row: i64,
    end_ps: i64,
    self_ps: i64,
}

/// What a slice learns when it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Row of the parent, or -1.
    pub parent: i64,
    /// Number of slices around it.
    pub depth: i32,
}

impl Nester {
    /// Begins the slice of row `row`; `done(row, self_ps)` is called for each slice that this closes.
    ///
    /// Within one track `ts_ps` must not fall. `ts_ps + dur_ps` must not overflow.
    #[inline]
    pub fn begin(&mut self, row: i64, ts_ps: i64, dur_ps: i64, mut done: impl FnMut(i64, i64)) -> Place {
        let end_ps = ts_ps + dur_ps;
        self.close_until(ts_ps, &mut done);
        if let Some(top) = self.open.last_mut() {
            top.self_ps += ts_ps - self.cursor_ps;
        }
        self.cursor_ps = ts_ps;
        // A slice that ends inside this one is no parent of it, nor of anything after.
        while let Some(top) = self.open.last()
            && top.end_ps < end_ps
        {
            done(top.row, top.self_ps);
            self.open.pop();
        }
        let parent = self.open.last().map_or(-1, |top| top.row);
        let depth = self.open.len() as i32;
        self.open.push(Open { row, end_ps, self_ps: 0 });
        Place { parent, depth }
    }

    /// How many of the slices from `row` on are still open.
    pub fn open_from(&self, row: i64) -> usize {
        let rows = self.open.iter().rev();
        rows.take_while(|open| open.row >= row).count()
    }

    /// Ends the track: closes every slice that is still open.
    pub fn finish(&mut self, mut done: impl FnMut(i64, i64)) {
        self.close_until(i64::MAX, &mut done);
    }

    /// Closes the slices that end at `ts_ps` or before.
    #[inline]
    fn close_until(&mut self, ts_ps: i64, done: &mut impl FnMut(i64, i64)) {
        // Ends do not rise towards the top, so the first to end is the last one pushed.
        while let Some(top) = self.open.last_mut()
            && top.end_ps <= ts_ps
        {
            top.self_ps += top.end_ps - self.cursor_ps;
            self.cursor_ps = top.end_ps;
            done(top.row, top.self_ps);
            self.open.pop();
        }
    }
}

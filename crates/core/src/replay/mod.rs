//! What steps would take if something in them took less time, from what their recording tells of who waits for whom.

mod frames;
mod graph;
mod points;
mod run;
mod waits;

#[cfg(test)]
mod tests;

pub use graph::{Counts, Graph};
pub use run::{Change, Way};

/// The number of a label, from 0 on.
pub type Label = u8;
/// No label.
pub const UNLABELLED: Label = Label::MAX;
/// Time in which no slice is open.
pub const NOTHING: u32 = u32::MAX;
/// Time in which no slice is open, and yet the thread works.
const REGION: u32 = u32::MAX - 1;

/// A slice of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// When it begins, in picoseconds.
    pub from: i64,
    /// When it ends, not before.
    pub to: i64,
    /// Number of its kind.
    pub kind: u32,
}

/// What a track is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A thread.
    Host,
    /// A stream of a device: what lies on it runs in the order in which it was launched.
    Device,
}

/// A track with its slices, which are in order of begin, outer ones first.
#[derive(Debug, Clone)]
pub struct Track {
    /// What it is.
    pub place: Place,
    /// Its slices.
    pub slices: Vec<Slice>,
}

/// A moment on a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// Number of the track.
    pub track: usize,
    /// When.
    pub ps: i64,
}

/// What an arrow stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A launch, and what it launched.
    Launch,
    /// One thread hands work or data to another.
    Hand,
    /// A participant of a collective that others wait for.
    Link,
    /// Found by time: a wait that ended when something else did.
    Release,
    /// Found by time: what the driving thread did when another thread began to work.
    Anchor,
}

/// One moment comes after another.
#[derive(Debug, Clone, Copy)]
pub struct Arrow {
    /// The earlier one.
    pub from: At,
    /// The later one.
    pub to: At,
    /// What it stands for.
    pub what: What,
}

/// What the driving thread does from one moment to another.
#[derive(Debug, Clone, Copy)]
pub struct Doing {
    /// When it begins.
    pub from: i64,
    /// When it ends.
    pub to: i64,
    /// What it does.
    pub label: Label,
}

/// A recording, or some of it.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Its tracks.
    pub tracks: Vec<Track>,
    /// What the recording tells of the order between tracks.
    pub arrows: Vec<Arrow>,
    /// Number of the track on which the steps lie.
    pub driver: usize,
    /// What that does; disjoint and in order. Where nothing is known there is none.
    pub doing: Vec<Doing>,
    /// Moments on the driving track that are asked for: begins and ends of steps.
    pub marks: Vec<i64>,
    /// A bit for each label under which the driving thread may wait for other tracks.
    pub may_wait: u32,
    /// The same where it waits only for what it handed to others before.
    pub may_join: u32,
    /// What is known of each kind.
    pub kinds: Vec<Kind>,
}

/// What is known of slices that are called alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kind {
    /// They may wait for other tracks.
    pub waits: bool,
    /// From here on the thread does work that another thread handed it, though no slice is open.
    pub opens: bool,
    /// Up to here.
    pub closes: bool,
}

impl Recording {
    fn waits(&self, kind: u32) -> bool {
        self.kinds.get(kind as usize).is_some_and(|kind| kind.waits)
    }
}

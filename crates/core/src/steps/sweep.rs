//! Cuts time into pieces in which nothing changes.

use super::Label;
use crate::spans::Span;

/// What is known of a thread from one instant to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// When it begins.
    pub from: i64,
    /// When it ends.
    pub to: i64,
    /// What the thread does.
    pub label: Label,
}

/// A stretch of time in which nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// When it begins.
    pub from: i64,
    /// When it ends.
    pub to: i64,
    /// What it counts to.
    pub label: Label,
    /// A bit for each label that goes on as well and costs nothing.
    pub hidden: u32,
}

/// What goes on at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// A bit for each layer that has a span there.
    pub open: u32,
    /// What segments of each kind say.
    pub says: [Option<Label>; 2],
}

/// What lies in a stretch of time.
#[derive(Debug, Clone, Copy)]
pub struct Layers<'a> {
    /// The stretches that are to be cut. They may overlap.
    pub steps: &'a [Span],
    /// At most 32 layers of spans.
    pub spans: &'a [Vec<Span>],
    /// Segments of two kinds; those of one kind are disjoint.
    pub segments: [&'a [Segment]; 2],
}

/// Where a layer begins or ends. Ends sort before begins: spans of one kind may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    at: i64,
    begins: bool,
    layer: u8,
    label: Label,
}

/// All that the steps cover, in order of time. No piece reaches over a begin or an end of a step.
/// `decide`: the label of an instant, and the bits of what goes on besides.
pub fn sweep<E>(
    layers: &Layers<'_>,
    mut decide: impl FnMut(State) -> Result<(Label, u32), E>,
) -> Result<Vec<Piece>, E> {
    let mut pieces = Vec::new();
    // Few states come again and again.
    let mut decided: Vec<(State, (Label, u32))> = Vec::new();
    let (mut counts, mut steps) = ([0_i32; 32], 0_i32);
    let mut state = State { open: 0, says: [None; 2] };
    let mut before = i64::MIN;
    for edge in edges(layers) {
        if edge.at > before && steps > 0 {
            let (label, hidden) = match decided.iter().position(|(one, _)| *one == state) {
                Some(number) => {
                    // Those that came lately stay in front.
                    if number > 0 {
                        decided.swap(number, number - 1);
                    }
                    decided[number.saturating_sub(1)].1
                }
                None => {
                    let found = decide(state)?;
                    decided.push((state, found));
                    found
                }
            };
            pieces.push(Piece { from: before, to: edge.at, label, hidden });
        }
        before = edge.at;
        let change = if edge.begins { 1 } else { -1 };
        match usize::from(edge.layer) {
            STEPS => steps += change,
            layer if layer >= FIRST_KIND => {
                state.says[layer - FIRST_KIND] = edge.begins.then_some(edge.label);
            }
            layer => {
                counts[layer] += change;
                let bit = 1 << layer;
                state.open = if counts[layer] > 0 { state.open | bit } else { state.open & !bit };
            }
        }
    }
    Ok(pieces)
}

const FIRST_KIND: usize = 32;
const STEPS: usize = FIRST_KIND + 2;

fn edges(layers: &Layers<'_>) -> Vec<Edge> {
    let plain = layers.spans.iter().take(FIRST_KIND).enumerate();
    let plain = plain.map(|(layer, spans)| (layer, spans.as_slice()));
    let mut edges = Vec::new();
    for (layer, spans) in plain.chain([(STEPS, layers.steps)]) {
        for (from, to) in spans.iter().filter(|(from, to)| from < to) {
            edges.extend(pair(*from, *to, layer, 0));
        }
    }
    for (kind, segments) in layers.segments.iter().enumerate() {
        for one in segments.iter().filter(|one| one.from < one.to) {
            edges.extend(pair(one.from, one.to, FIRST_KIND + kind, one.label));
        }
    }
    edges.sort_unstable();
    edges
}

fn pair(from: i64, to: i64, layer: usize, label: Label) -> [Edge; 2] {
    let edge = |at, begins| Edge { at, begins, layer: layer as u8, label };
    [edge(from, true), edge(to, false)]
}

//! Places the boxes of a graph in layers, so that edges point down: in time that grows with boxes and edges.
//!
//! Longest paths give the layers (Sugiyama, Tagawa, Toda 1981), a few sweeps of barycentres the order within
//! them, and one pass each way moves boxes towards their neighbours without letting any overlap. Edges that
//! close a cycle are turned around for the layers only. Nothing is dropped: every box has a place.

use crate::error::Result;
use crate::wanted::Wanted;

/// Free room between two boxes of a layer.
const GAP: f32 = 16.0;
const SWEEPS: usize = 4;
const PASSES: usize = 3;

/// Where a box lies: its layer from the top, and its left edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Counted from the top.
    pub layer: u32,
    /// Of the left edge; the leftmost box of all is at 0.
    pub x: f32,
}

/// Places boxes of these widths. Edges are pairs of boxes, from and to; those of a box with itself and those of
/// boxes that are not there say nothing.
///
/// # Errors
/// They are not wanted any more.
pub fn layered(widths: &[f32], edges: &[(u32, u32)], wanted: &Wanted<'_>) -> Result<Vec<Place>> {
    let count = widths.len();
    let known = |&&(from, to): &&(u32, u32)| from != to && (from as usize) < count && (to as usize) < count;
    let edges: Vec<(u32, u32)> = edges.iter().filter(known).copied().collect();
    let out = Neighbours::new(count, edges.iter().copied());
    let forward = without_cycles(count, &out, wanted)?;
    let below = Neighbours::new(count, forward.iter().copied());
    let above = Neighbours::new(count, forward.iter().map(|&(from, to)| (to, from)));
    let layer = longest_paths(count, &below, &above, wanted)?;
    let mut layers = by_layer(&layer);
    order(&mut layers, count, &below, &above, wanted)?;
    let x = spread(&layers, widths, &below, &above, wanted)?;
    let places = layer.into_iter().zip(x);
    Ok(places.map(|(layer, x)| Place { layer, x }).collect())
}

/// Edges by the box that they leave, in one array.
struct Neighbours {
    begin: Vec<u32>,
    ends: Vec<u32>,
}

impl Neighbours {
    fn new(count: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut begin = vec![0; count + 1];
        for (from, _) in edges.clone() {
            begin[from as usize + 1] += 1;
        }
        for i in 0..count {
            begin[i + 1] += begin[i];
        }
        let mut free = begin.clone();
        let mut ends = vec![0; begin[count] as usize];
        for (from, to) in edges {
            ends[free[from as usize] as usize] = to;
            free[from as usize] += 1;
        }
        Neighbours { begin, ends }
    }

    fn of(&self, one: usize) -> &[u32] {
        &self.ends[self.begin[one] as usize..self.begin[one + 1] as usize]
    }
}

/// The edges, those that lead back to a box on the way from a root turned around.
fn without_cycles(count: usize, out: &Neighbours, wanted: &Wanted<'_>) -> Result<Vec<(u32, u32)>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let mut seen = vec![Seen::Not; count];
    let mut found = Vec::with_capacity(out.ends.len());
    // A stack of its own: graphs are deeper than the thread's stack.
    let mut path: Vec<(u32, usize)> = Vec::new();
    for root in 0..count {
        if seen[root] != Seen::Not {
            continue;
        }
        seen[root] = Seen::Open;
        path.push((root as u32, 0));
        while let Some((one, next)) = path.last_mut() {
            wanted.step()?;
            let from = *one;
            let Some(&to) = out.of(from as usize).get(*next) else {
                seen[from as usize] = Seen::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match seen[to as usize] {
                Seen::Open => found.push((to, from)),
                Seen::Done => found.push((from, to)),
                Seen::Not => {
                    found.push((from, to));
                    seen[to as usize] = Seen::Open;
                    path.push((to, 0));
                }
            }
        }
    }
    Ok(found)
}

/// For each box the longest way to it from a box that nothing leads to.
fn longest_paths(
    count: usize,
    below: &Neighbours,
    above: &Neighbours,
    wanted: &Wanted<'_>,
) -> Result<Vec<u32>> {
    let mut left: Vec<usize> = (0..count).map(|one| above.of(one).len()).collect();
    let mut ready: Vec<usize> = (0..count).filter(|&one| left[one] == 0).collect();
    let mut layer = vec![0; count];
    while let Some(one) = ready.pop() {
        wanted.step()?;
        for &next in below.of(one) {
            let next = next as usize;
            layer[next] = layer[next].max(layer[one] + 1);
            left[next] -= 1;
            if left[next] == 0 {
                ready.push(next);
            }
        }
    }
    Ok(layer)
}

fn by_layer(layer: &[u32]) -> Vec<Vec<u32>> {
    let height = layer.iter().max().map_or(0, |&last| last as usize + 1);
    let mut layers = vec![Vec::new(); height];
    for (one, &at) in layer.iter().enumerate() {
        layers[at as usize].push(one as u32);
    }
    layers
}

/// Orders each layer by where the neighbours of its boxes are, downwards and upwards in turn.
fn order(
    layers: &mut [Vec<u32>],
    count: usize,
    below: &Neighbours,
    above: &Neighbours,
    wanted: &Wanted<'_>,
) -> Result<()> {
    let mut at = vec![0.0_f32; count];
    for layer in layers.iter() {
        number(layer, &mut at);
    }
    for sweep in 0..SWEEPS {
        let (neighbours, down) = if sweep % 2 == 0 { (above, true) } else { (below, false) };
        for step in 0..layers.len() {
            let place = if down { step } else { layers.len() - 1 - step };
            let layer = &mut layers[place];
            wanted.steps(layer.len())?;
            let mut keyed: Vec<(f32, u32)> = layer
                .iter()
                .map(|&one| (mean(neighbours.of(one as usize), &at).unwrap_or(at[one as usize]), one))
                .collect();
            // Stable: boxes without a reason to move stay as they are.
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *layer = keyed.into_iter().map(|(_, one)| one).collect();
            number(layer, &mut at);
        }
    }
    Ok(())
}

/// Places within a layer as parts of it, so that layers of different lengths compare.
fn number(layer: &[u32], at: &mut [f32]) {
    for (place, &one) in layer.iter().enumerate() {
        at[one as usize] = (place as f32 + 0.5) / layer.len() as f32;
    }
}

fn mean(boxes: &[u32], at: &[f32]) -> Option<f32> {
    let sum: f32 = boxes.iter().map(|&one| at[one as usize]).sum();
    (!boxes.is_empty()).then(|| sum / boxes.len() as f32)
}

/// Left edges: layers centred at first, then each box near the middle of its neighbours, none over another.
fn spread(
    layers: &[Vec<u32>],
    widths: &[f32],
    below: &Neighbours,
    above: &Neighbours,
    wanted: &Wanted<'_>,
) -> Result<Vec<f32>> {
    let mut centre = vec![0.0_f32; widths.len()];
    for layer in layers {
        let whole: f32 = layer.iter().map(|&one| widths[one as usize] + GAP).sum();
        let mut x = -whole / 2.0;
        for &one in layer {
            let one = one as usize;
            centre[one] = x + widths[one] / 2.0;
            x += widths[one] + GAP;
        }
    }
    for pass in 0..PASSES {
        for step in 0..layers.len() {
            let place = if pass % 2 == 0 { step } else { layers.len() - 1 - step };
            let neighbours = if pass % 2 == 0 { above } else { below };
            wanted.steps(layers[place].len())?;
            settle(&layers[place], widths, neighbours, &mut centre);
        }
    }
    let least =
        centre.iter().zip(widths).map(|(centre, width)| centre - width / 2.0).fold(f32::INFINITY, f32::min);
    let left = |(centre, width): (&f32, &f32)| centre - width / 2.0 - least;
    Ok(centre.iter().zip(widths).map(left).collect())
}

/// Moves the boxes of a layer to where they want to be, as far as their order allows: once with each box pushed
/// right by the one before, once pushed left by the one after, and the middle of both, which overlaps no more
/// than they do.
fn settle(layer: &[u32], widths: &[f32], neighbours: &Neighbours, centre: &mut [f32]) {
    let wanted: Vec<f32> = layer
        .iter()
        .map(|&one| mean(neighbours.of(one as usize), centre).unwrap_or(centre[one as usize]))
        .collect();
    let apart = |a: u32, b: u32| (widths[a as usize] + widths[b as usize]) / 2.0 + GAP;
    let mut right = wanted.clone();
    for i in 1..layer.len() {
        right[i] = right[i].max(right[i - 1] + apart(layer[i - 1], layer[i]));
    }
    let mut left = wanted;
    for i in (1..layer.len()).rev() {
        left[i - 1] = left[i - 1].min(left[i] - apart(layer[i - 1], layer[i]));
    }
    for (i, &one) in layer.iter().enumerate() {
        centre[one as usize] = f32::midpoint(left[i], right[i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn placed(widths: &[f32], edges: &[(u32, u32)]) -> Vec<Place> {
        layered(widths, edges, &Wanted::always()).unwrap()
    }

    fn graphs() -> impl Strategy<Value = (Vec<f32>, Vec<(u32, u32)>)> {
        (1_usize..60).prop_flat_map(|count| {
            let widths = proptest::collection::vec(1.0_f32..300.0, count);
            let end = 0..count as u32 + 2;
            (widths, proptest::collection::vec((end.clone(), end), 0..150))
        })
    }

    proptest! {
        #[test]
        fn no_box_lies_over_another((widths, edges) in graphs()) {
            let places = placed(&widths, &edges);
            prop_assert_eq!(places.len(), widths.len());
            for a in 0..widths.len() {
                prop_assert!(places[a].x >= 0.0);
                for b in 0..a {
                    let (p, q) = (places[a], places[b]);
                    let over = p.x < q.x + widths[b] - 0.01 && q.x < p.x + widths[a] - 0.01;
                    prop_assert!(p.layer != q.layer || !over, "{p:?} {q:?}");
                }
            }
        }

        #[test]
        fn edges_point_down_where_there_is_no_cycle((widths, edges) in graphs()) {
            let rising: Vec<_> = edges.iter().copied().filter(|(from, to)| from < to).collect();
            let places = placed(&widths, &rising);
            for (from, to) in rising {
                if (to as usize) < widths.len() {
                    prop_assert!(places[from as usize].layer < places[to as usize].layer);
                }
            }
        }

        #[test]
        fn the_same_graph_is_placed_the_same((widths, edges) in graphs()) {
            prop_assert_eq!(placed(&widths, &edges), placed(&widths, &edges));
        }
    }

    #[test]
    fn nothing_and_one_have_a_place() {
        assert!(placed(&[], &[]).is_empty());
        assert_eq!(placed(&[5.0], &[(0, 0), (0, 9)]), [Place { layer: 0, x: 0.0 }]);
    }

    #[test]
    fn a_chain_as_long_as_a_program_does_not_exhaust_the_stack() {
        let count = 200_000;
        let edges: Vec<_> = (1..count).map(|to| (to - 1, to)).chain([(count - 1, 0)]).collect();
        let places = placed(&vec![10.0; count as usize], &edges);
        assert_eq!(places[count as usize - 1].layer, count - 1);
    }

    #[test]
    fn what_nobody_wants_any_more_ends() {
        let edges: Vec<_> = (1..400_000).map(|to| (to / 2, to)).collect();
        for most in [1, 5, 20] {
            let asked = std::cell::Cell::new(0);
            let ask = || {
                asked.set(asked.get() + 1);
                asked.get() < most
            };
            let widths = vec![10.0; 400_000];
            assert!(layered(&widths, &edges, &Wanted::while_(&ask)).is_err());
            assert_eq!(asked.get(), most);
        }
    }
}

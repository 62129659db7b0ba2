//! Going through trees and graphs of any depth without recursion, keeping some of their nodes.

/// What to do with a node that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// Leave it and what is below it out.
    Skip,
    /// Go on below it; keep it or let what is kept below it move up to the node above.
    Enter {
        /// Keep it.
        keep: bool,
        /// Go on below it.
        descend: bool,
    },
}

struct Open<'a> {
    node: u32,
    children: &'a [u32],
    next: usize,
    keep: bool,
    /// Kept nodes that were there before it began.
    mark: usize,
    /// Kept nodes above it.
    level: usize,
}

/// Goes through `roots` and what is below them. `enter` is asked for every node with its depth
/// (`depth` for the roots); `leave` is called with each kept node, its level among kept nodes, and its
/// children: the nearest kept ones, which it may put into another order. Returns the kept nodes that
/// have no kept node above them.
pub fn gather<'a>(
    roots: &'a [u32],
    depth: i64,
    children: impl Fn(u32) -> &'a [u32],
    mut enter: impl FnMut(u32, i64) -> Visit,
    mut leave: impl FnMut(u32, usize, &mut [u32]),
) -> Vec<u32> {
    let mut kept: Vec<u32> = Vec::new();
    let mut open: Vec<Open<'a>> = Vec::new();
    let mut top = roots.iter();
    loop {
        let (node, level) = match open.last_mut() {
            Some(last) => match last.children.get(last.next) {
                Some(&child) => {
                    last.next += 1;
                    (child, last.level + usize::from(last.keep))
                }
                None => {
                    let done = open.pop().expect("it was there");
                    if done.keep {
                        leave(done.node, done.level, &mut kept[done.mark..]);
                        kept.truncate(done.mark);
                        kept.push(done.node);
                    }
                    continue;
                }
            },
            None => match top.next() {
                Some(&root) => (root, 0),
                None => return kept,
            },
        };
        let Visit::Enter { keep, descend } = enter(node, depth + open.len() as i64) else {
            continue;
        };
        open.push(Open {
            node,
            children: if descend { children(node) } else { &[] },
            next: 0,
            keep,
            mark: kept.len(),
            level,
        });
    }
}

/// Lists of children, one after the other in one array.
#[derive(Debug, Default, Clone)]
pub struct Lists {
    items: Vec<u32>,
    spans: Vec<(u32, u32)>,
}

impl Lists {
    /// Room for this many empty lists.
    pub fn new(lists: usize) -> Self {
        Lists { items: Vec::new(), spans: vec![(0, 0); lists] }
    }

    /// Sets a list.
    pub fn set(&mut self, list: u32, items: &[u32]) {
        let start = self.items.len() as u32;
        self.items.extend_from_slice(items);
        self.spans[list as usize] = (start, self.items.len() as u32);
    }

    /// A list; empty when it was never set.
    #[inline]
    pub fn get(&self, list: u32) -> &[u32] {
        let (start, end) = self.spans.get(list as usize).copied().unwrap_or_default();
        &self.items[start as usize..end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_nodes_hand_their_children_up() {
        // 0 -> 1 -> 2, 3; 0 -> 4
        let children: [&[u32]; 5] = [&[1, 4], &[2, 3], &[], &[], &[]];
        let mut seen = Vec::new();
        let roots = gather(
            &[0],
            1,
            |node| children[node as usize],
            |node, depth| {
                assert_eq!(depth, [1, 2, 3, 3, 2][node as usize]);
                Visit::Enter { keep: node != 1, descend: true }
            },
            |node, level, below| seen.push((node, level, below.to_vec())),
        );
        assert_eq!(roots, [0]);
        assert_eq!(seen, [(2, 1, vec![]), (3, 1, vec![]), (4, 1, vec![]), (0, 0, vec![2, 3, 4])]);
    }
}

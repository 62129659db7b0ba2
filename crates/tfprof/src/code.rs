//! The code view: the tree of Python calls that made the nodes.

use super::gather::Lists;
use super::groups::{Selection, Sum, devices, types};
use super::lines::{Columns, Line, Parts, indent};
use super::metrics::Metrics;
use super::model::{Frame, Model};
use super::options::Options;
use super::tree::{Figures, Filters, Manner, ROOT, Shown, Stage};
use super::words::heading;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Behind the lines that made gradients.
pub const GRADIENT: &str = " (gradient)";

/// The tree of calls.
pub struct Code {
    /// Names by place; callers come before what they call.
    pub names: Vec<String>,
    /// The call of each place.
    pub frames: Vec<Frame>,
    /// Whether a place represents gradients.
    pub gradient: Vec<bool>,
    /// The place above; the number of places for the outermost.
    parent: Vec<u32>,
    /// Calls below each place.
    pub children: Lists,
    roots: Vec<u32>,
    /// Nodes that each place made, by name.
    pub nodes: Vec<Vec<u32>>,
    /// Gradients whose forward node is not there.
    pub lost_gradients: usize,
}

#[derive(Default)]
struct Builder {
    names: Vec<String>,
    frames: Vec<Frame>,
    gradient: Vec<bool>,
    parent: Vec<u32>,
    below: Vec<Vec<u32>>,
    roots: Vec<u32>,
    nodes: Vec<Vec<u32>>,
    index: FxHashMap<(u32, String), u32>,
}

impl Builder {
    /// Follows a stack from the outermost call; returns the innermost one's place.
    fn follow(&mut self, model: &Model, stack: &[Frame], gradient: bool) -> Option<u32> {
        let mut above = None;
        for frame in stack {
            let mut name = call(model, frame);
            if gradient {
                name.push_str(GRADIENT);
            }
            let key = (above.unwrap_or(u32::MAX), name);
            let place = match self.index.get(&key) {
                Some(place) => *place,
                None => {
                    let place = self.names.len() as u32;
                    self.names.push(key.1.clone());
                    self.frames.push(frame.clone());
                    self.gradient.push(gradient);
                    self.parent.push(above.unwrap_or(u32::MAX));
                    self.below.push(Vec::new());
                    self.nodes.push(Vec::new());
                    match above {
                        Some(above) => self.below[above as usize].push(place),
                        None => self.roots.push(place),
                    }
                    self.index.insert(key, place);
                    place
                }
            };
            above = Some(place);
        }
        above
    }
}

/// A call in short: `train.py:12:main`.
fn call(model: &Model, frame: &Frame) -> String {
    let text = |id: &i64| model.texts.get(id).map_or("", String::as_str);
    let (file, function) = (text(&frame.file), text(&frame.function));
    let file = file.rsplit('/').next().unwrap_or_default();
    if function.len() < 20 {
        return format!("{file}:{}:{function}", frame.line);
    }
    let cut = String::from_utf8_lossy(&function.as_bytes()[..17]);
    format!("{file}:{}:{cut}...", frame.line)
}

/// The forward node that a gradient is named after.
fn forward_name(name: &str) -> Option<&str> {
    let start = name.find("gradients/")? + "gradients/".len();
    let end = name.find("_grad/")?;
    match end {
        end if end == start => None,
        end if end < start => Some(&name[start..]),
        end => Some(&name[start..end]),
    }
}

impl Code {
    /// Builds the tree. None when no node has a stack and is not a gradient.
    pub fn new(model: &Model) -> Option<Code> {
        let mut builder = Builder::default();
        let mut gradients: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        let mut forward: FxHashMap<&str, u32> = FxHashMap::default();
        for node in model.ordered() {
            let Some(stack) = model.nodes[node as usize].stack.as_deref().filter(|stack| !stack.is_empty())
            else {
                continue;
            };
            let name = model.name(node);
            if let Some(forward) = forward_name(name) {
                gradients.entry(forward).or_default().push(node);
                continue;
            }
            forward.insert(name, node);
            if let Some(place) = builder.follow(model, stack, false) {
                builder.nodes[place as usize].push(node);
            }
        }
        if forward.is_empty() {
            return None;
        }
        let mut lost = 0;
        for (name, nodes) in gradients {
            let Some(node) = forward.get(name) else {
                lost += 1;
                continue;
            };
            let stack = model.nodes[*node as usize].stack.as_deref().unwrap_or_default();
            if let Some(place) = builder.follow(model, stack, true) {
                builder.nodes[place as usize].extend(nodes);
            }
        }
        let Builder { names, frames, gradient, mut parent, below, roots, mut nodes, .. } = builder;
        let count = names.len() as u32;
        for above in &mut parent {
            *above = (*above).min(count);
        }
        for list in &mut nodes {
            list.sort_unstable_by(|a, b| model.name(*a).cmp(model.name(*b)));
        }
        let mut children = Lists::new(names.len());
        for (place, list) in (0..).zip(&below) {
            children.set(place, list);
        }
        Some(Code { names, frames, gradient, parent, children, roots, nodes, lost_gradients: lost })
    }

    /// The name of a place; beyond the last it is the root.
    pub fn name(&self, place: u32) -> &str {
        self.names.get(place as usize).map_or(ROOT, String::as_str)
    }

    /// Counts, chooses and orders. None when nothing is left, not even the root.
    /// `metrics` holds the figures of each node in the step of the options.
    pub fn view<'a>(
        &self,
        model: &Model,
        metrics: &'a [Metrics],
        options: &Options,
        filters: &Filters,
    ) -> Option<CodeView<'a>> {
        let selection = Selection::new(model, &filters.account);
        let sums: Vec<Sum> = self.nodes.iter().map(|nodes| selection.sum(model, metrics, nodes)).collect();
        let mut figures = Figures {
            own: sums.iter().map(|sum| sum.own).chain([Metrics::default()]).collect(),
            account: sums.iter().map(|sum| sum.account).chain([false]).collect(),
            ..Figures::default()
        };
        figures.add_up(&self.parent);
        let mut roots = self.roots.clone();
        roots.retain(|root| figures.alive[*root as usize]);
        let sizes: Vec<usize> = sums.iter().map(|sum| sum.nodes.len()).collect();
        let elsewhere: Vec<bool> = match filters.chooses_devices() {
            true => sums.iter().map(|sum| !filters.looks_at(model, &sum.nodes)).collect(),
            false => Vec::new(),
        };
        let stage = Stage {
            manner: Manner::Code,
            elsewhere: &elsewhere,
            names: &|place| self.name(place),
            children: &self.children,
            sizes: &sizes,
            options,
            filters,
        };
        let starts = stage.starts(&roots, &figures);
        let shown = stage.choose(&starts, &mut figures)?;
        Some(CodeView { figures, shown, sums, metrics })
    }

    /// The text of the view.
    pub fn write(&self, model: &Model, options: &Options, view: &CodeView<'_>) -> String {
        let mut out = heading(options, false);
        let columns = Columns::new(options);
        let mut stack = vec![self.names.len() as u32];
        let nothing = Sum::default();
        while let Some(place) = stack.pop() {
            let at = place as usize;
            let sum = view.sums.get(at).unwrap_or(&nothing);
            let line = Line {
                columns: &columns,
                own: &view.figures.own[at],
                total: &view.figures.total[at],
                account: view.figures.account[at],
            };
            indent(&mut out, view.shown.level[at]);
            out.push_str(self.name(place));
            out.push_str(" (");
            let mut parts = Parts::new(&mut out);
            line.bytes(&mut parts);
            line.times(&mut parts);
            line.counts(&[], &mut parts);
            if columns.device
                && let Some(devices) = devices(model, &sum.nodes)
            {
                parts.another().push_str(&devices);
            }
            if columns.op_types {
                parts.another().push_str(&types(model, &sum.nodes));
            }
            for column in ["occurrence", "input_shapes"] {
                if options.selects(column) {
                    let _ = write!(parts.another(), "{column} N/A in code view");
                }
            }
            out.push_str(")\n");
            stack.extend(view.shown.children.get(place).iter().rev());
        }
        out
    }
}

/// Figures of the calls, and what is shown of them.
pub struct CodeView<'a> {
    /// Figures by place; the root's are the last.
    pub figures: Figures,
    /// What is shown.
    pub shown: Shown,
    /// What the nodes of each place add up to.
    pub sums: Vec<Sum>,
    /// Figures of the nodes themselves.
    pub metrics: &'a [Metrics],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_name_their_forward_node() {
        assert_eq!(forward_name("gradients/a/Conv2D_grad/Conv2DBackpropInput"), Some("a/Conv2D"));
        assert_eq!(forward_name("gradients/_grad/x"), None);
        assert_eq!(forward_name("a_grad/gradients/b"), Some("b"));
        assert_eq!(forward_name("a/Conv2D"), None);
    }
}

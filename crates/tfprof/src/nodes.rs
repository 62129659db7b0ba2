//! The scope and graph views: one line for each node, by name scope or from outputs to inputs.

use super::gather::{Lists, Visit, gather};
use super::lines::{Columns, Line, Parts, indent, put_input_shapes};
use super::metrics::{Metric, Metrics};
use super::model::Model;
use super::options::Options;
use super::tree::{Figures, Filters, Manner, ROOT, Shown, Stage};
use std::collections::HashMap;
use stepscope_core::error::{Error, Kind, Result};

/// Longest sum of the names of all scopes.
const SCOPE_BYTES_LIMIT: u64 = 8 << 30;

/// A place in a view: a node, or a scope that no node is called like.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The node whose name begins with this place's.
    named_after: u32,
    /// Id of that name: with it a name is had without its node, which is large and elsewhere in memory.
    name: u32,
    /// Bytes of that name that are this place's.
    bytes: u32,
    /// Whether it is the node itself.
    is_node: bool,
}

/// Places in the order of their names, and what is below them.
#[derive(Debug)]
pub struct Layout {
    manner: Manner,
    places: Vec<Place>,
    children: Lists,
    roots: Vec<u32>,
    /// For scopes: the place above each; the number of places for those at the top.
    parent: Vec<u32>,
}

impl Layout {
    /// The tree of name scopes.
    pub fn scopes(model: &Model) -> Result<Layout> {
        let mut places: HashMap<&str, Place> = HashMap::with_capacity(model.nodes.len() * 2);
        let mut total = 0u64;
        for node in 0..model.nodes.len() as u32 {
            let name = model.name(node);
            let place = Place {
                named_after: node,
                name: model.nodes[node as usize].name,
                bytes: name.len() as u32,
                is_node: true,
            };
            places.insert(name, place);
            let mut rest = name;
            while let Some(cut) = rest.rfind('/') {
                rest = &rest[..cut];
                if places.contains_key(rest) {
                    break;
                }
                total += rest.len() as u64;
                if total > SCOPE_BYTES_LIMIT {
                    return Err(Error::new(Kind::Limit, "the name scopes are nested too deep to be shown"));
                }
                let place = Place {
                    named_after: node,
                    name: model.nodes[node as usize].name,
                    bytes: cut as u32,
                    is_node: false,
                };
                places.insert(rest, place);
            }
        }
        let mut named: Vec<(&str, Place)> = places.into_iter().collect();
        named.sort_unstable_by_key(|(name, _)| *name);
        let numbers: HashMap<&str, u32> = named.iter().map(|(name, _)| *name).zip(0..).collect();
        let count = named.len() as u32;
        let parent: Vec<u32> = named
            .iter()
            .map(|(name, _)| name.rfind('/').map_or(count, |cut| numbers[&name[..cut]]))
            .collect();
        let mut below: Vec<Vec<u32>> = vec![Vec::new(); named.len() + 1];
        for (place, parent) in (0..).zip(&parent) {
            below[*parent as usize].push(place);
        }
        let mut children = Lists::new(named.len());
        for (place, list) in (0..).zip(&below[..named.len()]) {
            children.set(place, list);
        }
        Ok(Layout {
            manner: Manner::Scope,
            places: named.into_iter().map(|(_, place)| place).collect(),
            children,
            roots: below.pop().unwrap_or_default(),
            parent,
        })
    }

    /// The graph from outputs to inputs; its roots are nodes that are nobody's input.
    pub fn graph(model: &Model) -> Layout {
        let order = model.ordered();
        let mut number = vec![0u32; order.len()];
        for (place, node) in (0..).zip(&order) {
            number[*node as usize] = place;
        }
        let mut consumed = vec![false; order.len()];
        let mut children = Lists::new(order.len());
        let mut list = Vec::new();
        for (place, node) in (0..).zip(&order) {
            list.clear();
            for source in &model.nodes[*node as usize].inputs {
                if let Some(producer) = model.by_name.get(&source.name) {
                    let input = number[*producer as usize];
                    consumed[input as usize] = true;
                    list.push(input);
                }
            }
            children.set(place, &list);
        }
        let places = order.iter().map(|node| Place {
            named_after: *node,
            name: model.nodes[*node as usize].name,
            bytes: model.name(*node).len() as u32,
            is_node: true,
        });
        Layout {
            manner: Manner::Graph,
            places: places.collect(),
            children,
            roots: (0..order.len() as u32).filter(|place| !consumed[*place as usize]).collect(),
            parent: Vec::new(),
        }
    }

    /// The name of a place; beyond the last it is the root.
    pub fn name<'a>(&'a self, model: &'a Model, place: u32) -> &'a str {
        match self.places.get(place as usize) {
            Some(place) => &model.names.get(place.name)[..place.bytes as usize],
            None => ROOT,
        }
    }

    /// The node of a place.
    pub fn node(&self, place: u32) -> Option<u32> {
        let place = self.places.get(place as usize)?;
        place.is_node.then_some(place.named_after)
    }

    /// The inputs of a place in the graph.
    pub fn inputs(&self, place: u32) -> &[u32] {
        self.children.get(place)
    }

    /// Counts, chooses and orders. `metrics` holds the figures of each node in the step of the options.
    pub fn view(&self, model: &Model, metrics: &[Metrics], options: &Options, filters: &Filters) -> View {
        let count = self.places.len();
        let mut scope = Metrics::default();
        scope.set(Metric::Definitions, 1);
        let own = self.places.iter().map(|place| match place.is_node {
            true => metrics[place.named_after as usize],
            false => scope,
        });
        let mut figures = Figures { own: own.chain([scope]).collect(), ..Figures::default() };
        let accounts: Vec<bool> =
            (0..model.types.len() as u32).map(|id| filters.account.matches(model.types.get(id))).collect();
        let scopes_count = filters.account.is_all() || filters.account.matches(SCOPE_TYPE);
        figures.account = self
            .places
            .iter()
            .map(|place| match place.is_node {
                true => {
                    let types = || model.nodes[place.named_after as usize].types.iter();
                    filters.account.is_all() || types().any(|id| accounts[*id as usize])
                }
                false => scopes_count,
            })
            .chain([false])
            .collect();
        let mut accounted = None;
        let mut roots = self.roots.clone();
        if self.manner == Manner::Scope {
            figures.add_up(&self.parent);
            roots.retain(|root| figures.alive[*root as usize]);
        } else {
            let mut lists = Lists::new(count);
            roots = self.account_graph(&mut figures, &mut lists);
            accounted = Some(lists);
        }
        let elsewhere: Vec<bool> = match filters.chooses_devices() {
            true => {
                (0..count as u32).map(|place| !filters.looks_at(model, self.node(place).as_slice())).collect()
            }
            false => Vec::new(),
        };
        let stage = Stage {
            manner: self.manner,
            elsewhere: &elsewhere,
            names: &|place| self.name(model, place),
            children: accounted.as_ref().unwrap_or(&self.children),
            sizes: &[],
            options,
            filters,
        };
        let starts = stage.starts(&roots, &figures);
        let shown = stage.choose(&starts, &mut figures);
        View { figures, shown: shown.expect("these views always show their root") }
    }

    /// Adds up the graph: a node counts at the first one that needs it.
    fn account_graph(&self, figures: &mut Figures, lists: &mut Lists) -> Vec<u32> {
        let count = self.places.len();
        let mut visited = vec![false; count];
        let mut total = vec![Metrics::default(); count + 1];
        let enter = |place: u32, _: i64| {
            if std::mem::replace(&mut visited[place as usize], true) {
                return Visit::Skip;
            }
            Visit::Enter { keep: figures.account[place as usize], descend: true }
        };
        let leave = |place: u32, _: usize, below: &mut [u32]| {
            let mut sum = figures.own[place as usize];
            for child in below.iter() {
                sum.add(&total[*child as usize]);
            }
            total[place as usize] = sum;
            lists.set(place, below);
        };
        let roots = gather(&self.roots, 0, |place| self.children.get(place), enter, leave);
        for root in &roots {
            let sum = total[*root as usize];
            total[count].add(&sum);
        }
        figures.total = total;
        figures.alive = vec![true; count + 1];
        roots
    }

    /// Writes the shown nodes; `value` gives what a checkpoint holds under a name.
    pub fn write(
        &self,
        model: &Model,
        options: &Options,
        view: &View,
        value: &mut dyn FnMut(&str) -> Result<Option<String>>,
        out: &mut String,
    ) -> Result<()> {
        let root = self.places.len() as u32;
        let columns = Columns::new(options);
        let mut stack = vec![root];
        while let Some(place) = stack.pop() {
            let name = self.name(model, place);
            let line = Line {
                columns: &columns,
                own: &view.figures.own[place as usize],
                total: &view.figures.total[place as usize],
                account: view.figures.account[place as usize],
            };
            indent(out, view.shown.level[place as usize]);
            out.push_str(name);
            out.push_str(" (");
            self.parts(model, place, &line, &mut Parts::new(out));
            out.push_str(")\n");
            if columns.tensor_value
                && name != ROOT
                && let Some(text) = value(name)?
            {
                out.push_str(&text);
            }
            stack.extend(view.shown.children.get(place).iter().rev());
        }
        Ok(())
    }

    fn parts(&self, model: &Model, place: u32, line: &Line<'_>, parts: &mut Parts<'_>) {
        let columns = line.columns;
        let node = self.node(place);
        let known = || node.map(|node| &model.nodes[node as usize]);
        let dims = match columns.params {
            true => known().map_or(&[][..], |node| &node.shape),
            false => &[],
        };
        line.counts(dims, parts);
        line.bytes(parts);
        line.times(parts);
        if columns.device
            && let Some(device) = known().and_then(|node| node.device)
        {
            parts.another().push_str(&model.devices[device as usize].name);
        }
        if columns.op_types {
            let out = parts.another();
            match known() {
                Some(node) => {
                    for (at, id) in node.types.iter().enumerate() {
                        out.push_str(if at > 0 { "|" } else { "" });
                        out.push_str(model.types.get(*id));
                    }
                }
                None if self.manner == Manner::Graph => out.push_str(GRAPH_TYPE),
                None => out.push_str(SCOPE_TYPE),
            }
        }
        line.occurrence(parts);
        if columns.input_shapes {
            let shapes = node.map(|node| model.input_shapes(node)).unwrap_or_default();
            put_input_shapes(parts.another(), &shapes, "|");
        }
    }
}

/// Type of a scope that is not a node.
const SCOPE_TYPE: &str = "_kTFScopeParent";
/// Type of the root of the graph view.
const GRAPH_TYPE: &str = "_TFGraphParent";

/// Figures, and what is shown of them.
pub struct View {
    /// Figures by place; the root's are the last.
    pub figures: Figures,
    /// What is shown.
    pub shown: Shown,
}

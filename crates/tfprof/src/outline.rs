//! Views as data: the nodes that a view shows, with exact figures, in the order of its lines.

use super::Session;
use super::code::Code;
use super::groups;
use super::metrics::Metrics;
use super::model::Model;
use super::nodes::Layout;
use super::ops::Ops;
use super::options::Options;
use super::tree::{Filters, ROOT, Shown};
use stepscope_core::error::{Error, Kind, Result};

/// A line of a view. The root comes first, and every line before those below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// Levels below the root.
    pub level: usize,
    /// Name of a node, scope, call or type; the root's is `_TFProfRoot`.
    pub name: String,
    /// Whether it counts itself, or only holds what counts.
    pub counts: bool,
    /// Figures of its own.
    pub own: Metrics,
    /// With what is below it; in the op view, with the types behind it.
    pub total: Metrics,
    /// Its types, or those of its nodes, in their order.
    pub types: Vec<String>,
    /// Its devices.
    pub devices: Vec<String>,
    /// Shape of a variable.
    pub shape: Vec<i64>,
    /// Names of the nodes that it represents: itself, or those of a call or a type.
    pub nodes: Vec<String>,
}

fn split(text: &str) -> Vec<String> {
    let parts = text.split('|').filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn names(model: &Model, nodes: &[u32]) -> Vec<String> {
    let names = nodes.iter().map(|node| model.name(*node).to_owned());
    names.collect()
}

/// The places that are shown, in the order of their lines.
fn walk(root: u32, shown: &Shown) -> Vec<u32> {
    let mut order = Vec::new();
    let mut stack = vec![root];
    while let Some(place) = stack.pop() {
        order.push(place);
        stack.extend(shown.children.get(place).iter().rev());
    }
    order
}

impl Session {
    /// The lines of a view (`scope`, `graph`, `op` or `code`), and what a reader should know.
    ///
    /// Fails for a step that was not recorded and for a code view without code.
    pub fn outline(&mut self, view: &str, options: &Options) -> Result<(Vec<Row>, Vec<String>)> {
        if options.step >= 0 && !self.model.steps.contains(&options.step) {
            let seen = format!("step {}; recorded are {:?}", options.step, self.model.steps);
            return Err(Error::new(Kind::NotThisFormat, seen));
        }
        let mut warnings = Vec::new();
        let options = &options.in_ticks(self.model.ticks());
        let filters = Filters::new(options, &mut warnings);
        let rows = match view {
            "scope" | "graph" => self.outline_nodes(view == "graph", options, &filters, &mut warnings)?,
            "op" => self.outline_ops(options, &filters, &mut warnings),
            _ => self.outline_code(options, &filters, &mut warnings)?,
        };
        Ok((rows, warnings))
    }

    fn outline_nodes(
        &mut self,
        is_graph: bool,
        options: &Options,
        filters: &Filters,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Row>> {
        let slot = match is_graph {
            true => &mut self.graph,
            false => &mut self.scopes,
        };
        if slot.is_none() {
            *slot = Some(match is_graph {
                true => Layout::graph(&self.model),
                false => Layout::scopes(&self.model)?,
            });
        }
        let model = &self.model;
        let layout = slot.as_ref().expect("it was just built");
        let metrics = self.figures.of(model, options.step);
        let view = layout.view(model, metrics, options, filters);
        view.shown.hidden.warn(options, warnings);
        let root = view.figures.total.len() as u32 - 1;
        let rows = walk(root, &view.shown).into_iter().map(|place| {
            let at = place as usize;
            let node = layout.node(place);
            let own: Vec<u32> = node.into_iter().collect();
            Row {
                level: view.shown.level[at],
                name: layout.name(model, place).to_owned(),
                counts: view.figures.account[at],
                own: view.figures.own[at],
                total: view.figures.total[at],
                types: split(&groups::types(model, &own)),
                devices: split(&groups::devices(model, &own).unwrap_or_default()),
                shape: node.map_or_else(Vec::new, |node| model.nodes[node as usize].shape.clone()),
                nodes: names(model, &own),
            }
        });
        Ok(rows.collect())
    }

    fn outline_ops(&mut self, options: &Options, filters: &Filters, warnings: &mut Vec<String>) -> Vec<Row> {
        let model = &self.model;
        let metrics = self.figures.of(model, options.step);
        let ops = self.ops.get_or_insert_with(|| Ops::new(model));
        let Some(view) = ops.view(model, metrics, options, filters) else {
            let root = Row { name: ROOT.into(), ..Row::default() };
            return vec![root];
        };
        view.hidden.warn(options, warnings);
        let root = Row { name: ROOT.into(), total: view.all, ..Row::default() };
        let rows = view.rows.iter().filter(|row| row.name != ROOT);
        let rows = rows.map(|row| Row {
            level: 1,
            name: row.name.to_owned(),
            counts: row.sum.account,
            own: row.sum.own,
            total: row.total,
            types: split(&groups::types(model, &row.sum.nodes)),
            devices: split(&groups::devices(model, &row.sum.nodes).unwrap_or_default()),
            shape: Vec::new(),
            nodes: names(model, &row.sum.nodes),
        });
        std::iter::once(root).chain(rows).collect()
    }

    fn outline_code(
        &mut self,
        options: &Options,
        filters: &Filters,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Row>> {
        let model = &self.model;
        let metrics = self.figures.of(model, options.step);
        let nothing = |seen: &str| Error::new(Kind::NotThisFormat, seen);
        let code = match self.code.get_or_insert_with(|| Code::new(model)) {
            Some(code) if model.has_code => code,
            _ => return Err(nothing("no op log tells which Python code made the nodes")),
        };
        let Some(view) = code.view(model, metrics, options, filters) else {
            return Err(nothing("the options leave nothing of the code, not even its root"));
        };
        view.shown.hidden.warn(options, warnings);
        let root = view.figures.total.len() as u32 - 1;
        let rows = walk(root, &view.shown).into_iter().map(|place| {
            let at = place as usize;
            let own = view.sums.get(at).map_or(&[][..], |sum| &sum.nodes);
            Row {
                level: view.shown.level[at],
                name: code.name(place).to_owned(),
                counts: view.figures.account[at],
                own: view.figures.own[at],
                total: view.figures.total[at],
                types: split(&groups::types(model, own)),
                devices: split(&groups::devices(model, own).unwrap_or_default()),
                shape: Vec::new(),
                nodes: names(model, own),
            }
        });
        Ok(rows.collect())
    }
}

//! What the scope, graph and code views share: counting, finding where to start, choosing, ordering.

use super::gather::{Lists, Visit, gather};
use super::hidden::{Compared, Hidden, METRICS};
use super::metrics::{Metric, Metrics};
use super::model::Model;
use super::options::{Options, least, which};
use super::regexes::Regexes;

/// Name of the node above all others.
pub const ROOT: &str = "_TFProfRoot";

/// The expressions of the options, compiled.
pub struct Filters {
    /// Types that are counted.
    pub account: Regexes,
    /// Names to start from.
    pub start: Regexes,
    /// Names below which nothing is shown.
    pub trim: Regexes,
    /// Names that are shown.
    pub show: Regexes,
    /// Names that are not.
    pub hide: Regexes,
    /// Devices that are looked at.
    devices: Regexes,
}

impl Filters {
    /// Compiles; an invalid expression goes into `warnings`.
    pub fn new(options: &Options, warnings: &mut Vec<String>) -> Self {
        let any_case = options.device_regexes.iter().map(|regex| format!("(?i){regex}"));
        let devices: Vec<String> = match options.device_regexes.as_slice() {
            [only] if only == ".*" => Vec::new(),
            _ => any_case.collect(),
        };
        let mut compile = |patterns: &[String]| {
            let regexes = Regexes::new(patterns);
            for (pattern, reason) in &regexes.wrong {
                warnings.push(format!("'{pattern}' is no regular expression and matches nothing: {reason}"));
            }
            regexes
        };
        Filters {
            account: compile(&options.regexes[which::ACCOUNT]),
            start: compile(&options.regexes[which::START]),
            trim: compile(&options.regexes[which::TRIM]),
            show: compile(&options.regexes[which::SHOW]),
            hide: compile(&options.regexes[which::HIDE]),
            devices: compile(&devices),
        }
    }

    /// Whether only nodes on certain devices are looked at.
    pub fn chooses_devices(&self) -> bool {
        self.devices.each().next().is_some()
    }

    /// Whether any of the nodes is on a device that is looked at; a node without one is not.
    pub fn looks_at(&self, model: &Model, nodes: &[u32]) -> bool {
        let device = |node: &u32| match model.nodes[*node as usize].device {
            Some(device) => model.devices[device as usize].name.as_str(),
            None => "",
        };
        !self.chooses_devices() || nodes.iter().any(|node| self.devices.matches(device(node)))
    }

    /// Whether a name may be shown at all.
    pub fn shows(&self, name: &str) -> bool {
        (self.show.is_all() || self.show.matches(name)) && !self.hide.matches(name)
    }
}

/// Figures of the nodes of a tree, by their place in it.
#[derive(Debug, Default)]
pub struct Figures {
    /// The node's own.
    pub own: Vec<Metrics>,
    /// With what is below it.
    pub total: Vec<Metrics>,
    /// Whether the node itself counts.
    pub account: Vec<bool>,
    /// Whether it is part of the tree: it counts, or something below it does.
    pub alive: Vec<bool>,
}

impl Figures {
    /// Adds up a tree in which every parent comes before its children; `parent` of a root is the last place.
    pub fn add_up(&mut self, parent: &[u32]) {
        let root = parent.len();
        self.alive = self.account.clone();
        self.total = vec![Metrics::default(); root + 1];
        for place in (0..root).rev() {
            if self.alive[place] {
                let own = self.own[place];
                self.total[place].add(&own);
                let total = self.total[place];
                self.total[parent[place] as usize].add(&total);
                self.alive[parent[place] as usize] = true;
            }
        }
    }
}

/// The shape of what is shown: which children each shown node has, and how far it is indented.
pub struct Shown {
    /// Children in the order in which they are shown.
    pub children: Lists,
    /// Levels below the root.
    pub level: Vec<usize>,
    /// What defaults hide.
    pub hidden: Hidden,
}

/// How the views differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Every node has one parent; least parameters and operations are compared with its own.
    Scope,
    /// A node is shown where it first occurs.
    Graph,
    /// Least figures are compared with totals; a trimmed node goes itself.
    Code,
}

/// The tree of a view, ready to be narrowed down.
pub struct Stage<'a> {
    /// The kind of view. Except for code, places are in the order of their names.
    pub manner: Manner,
    /// Names by place; the last one is the root's.
    pub names: &'a dyn Fn(u32) -> &'a str,
    /// Children of each place that count.
    pub children: &'a Lists,
    /// Places that are on other devices than those that are looked at; none when all are.
    pub elsewhere: &'a [bool],
    /// The nodes of each place, when it may have several.
    pub sizes: &'a [usize],
    /// The options.
    pub options: &'a Options,
    /// Their expressions.
    pub filters: &'a Filters,
}

impl Stage<'_> {
    fn root(figures: &Figures) -> u32 {
        figures.total.len() as u32 - 1
    }

    /// The nodes to start from: the first ones on each way down whose name matches.
    pub fn starts(&self, roots: &[u32], figures: &Figures) -> Vec<u32> {
        if self.filters.start.is_all() {
            return roots.to_vec();
        }
        let mut visited = vec![false; figures.total.len()];
        let enter = |node: u32, _: i64| {
            let place = node as usize;
            if !figures.alive[place] || (self.manner == Manner::Graph && visited[place]) {
                return Visit::Skip;
            }
            visited[place] = true;
            let starts = self.filters.start.matches((self.names)(node));
            Visit::Enter { keep: starts, descend: !starts }
        };
        gather(roots, 0, |node| self.children.get(node), enter, |_, _, _| {})
    }

    /// Chooses what is shown below the root and orders it. None when the root itself is trimmed.
    pub fn choose(&self, starts: &[u32], figures: &mut Figures) -> Option<Shown> {
        let root = Self::root(figures);
        let mut shown = Shown {
            children: Lists::new(figures.total.len()),
            level: vec![0; figures.total.len()],
            hidden: Hidden::default(),
        };
        let mut hidden = Hidden::default();
        let mut visited = vec![false; figures.total.len()];
        let max_depth = i64::from(self.options.max_depth);
        let Figures { own, total, alive, .. } = figures;
        // Totals change only after the nodes above were judged by the old ones.
        let totals = std::cell::RefCell::new(total);
        let enter = |node: u32, depth: i64| {
            let place = node as usize;
            let name = (self.names)(node);
            if node != root && !alive[place] {
                return Visit::Skip;
            }
            if self.manner == Manner::Graph && std::mem::replace(&mut visited[place], true) {
                return Visit::Skip;
            }
            let trimmed = self.filters.trim.matches(name);
            if self.manner == Manner::Code && (trimmed || depth > max_depth) {
                return Visit::Skip;
            }
            let keep = name == ROOT || {
                let figures = self.compared(&own[place], &totals.borrow()[place]);
                let elsewhere = self.elsewhere.get(place).copied().unwrap_or_default();
                depth <= max_depth
                    && self.filters.shows(name)
                    && !elsewhere
                    && hidden.judge(name, &figures, &own[place], &self.options.min)
            };
            Visit::Enter { keep, descend: !trimmed && depth <= max_depth }
        };
        let leave = |node: u32, level: usize, below: &mut [u32]| {
            let mut totals = totals.borrow_mut();
            self.arrange(below, &totals);
            if self.options.account_displayed_op_only && self.manner != Manner::Code {
                let mut sum = own[node as usize];
                for child in below.iter() {
                    sum.add(&totals[*child as usize]);
                }
                totals[node as usize] = sum;
            }
            shown.children.set(node, below);
            shown.level[node as usize] = level;
        };
        let below = |node: u32| {
            if node == root { starts } else { self.children.get(node) }
        };
        let kept = gather(&[root], 1, below, enter, leave);
        shown.hidden = hidden;
        (kept == [root]).then_some(shown)
    }

    /// What is compared with the least figures.
    fn compared(&self, own: &Metrics, total: &Metrics) -> Compared {
        let of_code = self.manner == Manner::Code;
        let mut figures = [i64::MAX; 10];
        for (figure, metric) in figures.iter_mut().zip(METRICS) {
            *figure = match metric {
                Metric::Params | Metric::Flops if !of_code => own.get(metric),
                _ => total.get(metric),
            };
        }
        if !of_code {
            figures[least::OCCURRENCE] = own.get(Metric::Runs);
        }
        figures
    }

    fn arrange(&self, nodes: &mut [u32], totals: &[Metrics]) {
        if self.options.order_by.is_empty() || nodes.len() < 2 {
            return;
        }
        // What is equal stays in the order it came in.
        match ordering(&self.options.order_by) {
            Some(metric) => nodes.sort_by_key(|node| std::cmp::Reverse(totals[*node as usize].get(metric))),
            None if self.options.order_by == "occurrence" && !self.sizes.is_empty() => {
                nodes.sort_by_key(|node| std::cmp::Reverse(self.sizes[*node as usize]));
            }
            None if self.manner == Manner::Code => {
                nodes.sort_by(|a, b| (self.names)(*a).cmp((self.names)(*b)))
            }
            None => nodes.sort_unstable(),
        }
    }
}

/// The figure that an order goes by; None for the name.
pub fn ordering(order_by: &str) -> Option<Metric> {
    Some(match order_by {
        "bytes" => Metric::Requested,
        "peak_bytes" => Metric::Peak,
        "residual_bytes" => Metric::Residual,
        "output_bytes" => Metric::Output,
        "micros" => Metric::Micros,
        "accelerator_micros" => Metric::AcceleratorMicros,
        "cpu_micros" => Metric::CpuMicros,
        "params" => Metric::Params,
        "float_ops" => Metric::Flops,
        _ => return None,
    })
}

//! tfprof: the model analysis of TensorFlow 1, as TensorFlow 2.21 prints it, without TensorFlow.
//!
//! A [`model::Model`] is read from a graph, the RunMetadata of steps, and op logs. Each view adds up
//! figures over a structure of its own: [`nodes`] over name scopes and over the graph, [`code`] over
//! Python calls, [`ops`] over types. What is counted, where to start, what is shown and in which order
//! is the same for all and lives in [`tree`]. A [`Session`] keeps what was built between questions.
//!
//! [`tf_timeline`] is another tool of TensorFlow's: its Timeline of a step, as a Chrome trace.

pub mod advise;
pub mod attributes;
pub mod code;
pub mod flops;
pub mod gather;
pub mod groups;
pub mod hidden;
pub mod lines;
pub mod meanings;
pub mod metrics;
pub mod model;
pub mod nodes;
pub mod ops;
pub mod options;
pub mod outline;
pub mod pprof;
pub mod read;
pub mod regexes;
pub mod tabulate;
pub mod tf_timeline;
pub mod timeline;
pub mod tree;
pub mod words;
pub mod write_profile;

use code::Code;
use metrics::Metrics;
use model::Model;
use nodes::Layout;
use ops::Ops;
use options::Options;
use std::fmt::Write as _;
use stepscope_core::error::Result;
use stepscope_core::formats::checkpoint::{self, Checkpoint};
use tree::Filters;

/// What a question brought.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Text for standard output.
    pub text: String,
    /// What a reader should know, one sentence each.
    pub warnings: Vec<String>,
    /// Files to be written: name, content.
    pub files: Vec<(String, Vec<u8>)>,
}

/// A tensor's text. None for a node that the checkpoint does not have or whose type is not shown.
fn value(checkpoint: &Checkpoint, name: &str, warnings: &mut Vec<String>) -> Result<Option<String>> {
    let Some(tensor) = checkpoint.find(name) else {
        return Ok(None);
    };
    if !checkpoint::text::is_shown(tensor.dtype) {
        let dtype = checkpoint::dtype::name(tensor.dtype);
        warnings.push(format!("{name}: tfprof shows no values of type {dtype}"));
        return Ok(None);
    }
    let values = checkpoint.values(tensor)?;
    Ok(Some(checkpoint::text::print(tensor, &values)))
}

/// A model, and the views that were built of it.
#[derive(Default)]
pub struct Session {
    /// The model. Whoever changes it calls [`Session::changed`].
    pub model: Model,
    /// Values of variables, for those who ask for them.
    pub checkpoint: Option<Checkpoint>,
    scopes: Option<Layout>,
    graph: Option<Layout>,
    ops: Option<Ops>,
    code: Option<Option<Code>>,
    figures: Kept,
}

/// Figures of all nodes in the step that was last asked for.
#[derive(Default)]
struct Kept(Option<(i64, Vec<Metrics>)>);

impl Kept {
    fn of(&mut self, model: &Model, step: i64) -> &[Metrics] {
        if self.0.as_ref().is_none_or(|(kept, _)| *kept != step) {
            self.0 = Some((step, model.all_metrics(step)));
        }
        self.0.as_ref().map_or(&[], |(_, figures)| figures)
    }
}

impl Session {
    /// Forgets the views and the figures of nodes.
    pub fn changed(&mut self) {
        self.forget_views();
        self.figures = Kept::default();
    }

    /// Forgets the views; the next question builds its own anew.
    pub fn forget_views(&mut self) {
        (self.scopes, self.graph, self.ops, self.code) = (None, None, None, None);
    }

    /// Adds a checkpoint: its tensors give their nodes a type, and their values can be shown.
    pub fn add_checkpoint(&mut self, checkpoint: Checkpoint) {
        self.changed();
        for tensor in checkpoint.tensors() {
            if let Some(node) = self.model.find(&tensor.name) {
                self.model.add_type(node, "_checkpoint_variables");
            }
        }
        self.checkpoint = Some(checkpoint);
    }

    /// Answers a view: `scope`, `graph`, `op` or `code`.
    pub fn show(&mut self, command: &str, options: &Options) -> Result<Answer> {
        let mut answer = Answer::default();
        if options.step >= 0 && !self.model.steps.contains(&options.step) {
            let steps: Vec<String> = self.model.steps.iter().map(|step| format!("{step} ")).collect();
            let text =
                format!("Options -step={} not found.\nAvailable steps: {}", options.step, steps.concat());
            answer.warnings.push(text);
            return Ok(answer);
        }
        let options = &options.in_ticks(self.model.ticks());
        let filters = Filters::new(options, &mut answer.warnings);
        let preface = words::preface(command, options, self.model.lacks_streams);
        let text = match command {
            "scope" | "graph" => self.nodes(command, options, &filters, &mut answer)?,
            "op" => self.ops(options, &filters, &mut answer),
            _ => self.code(options, &filters, &mut answer),
        };
        // Views of large models are tens of megabytes: moved within what they have, and not copied.
        let text = text.map(|mut text| {
            text.insert_str(0, &preface);
            text
        });
        match (text, options.output.as_str()) {
            // Nothing is printed besides a view; a view written to a file prints nothing.
            (Some(text), "stdout") => answer.text = text,
            (Some(text), "file") => {
                let name = options.output_options.get("outfile").cloned().unwrap_or_default();
                answer.files.push((name, text.into_bytes()));
            }
            _ => {}
        }
        Ok(answer)
    }

    /// The advice of TensorFlow's three checkers.
    pub fn advise(&mut self) -> Result<Answer> {
        advise::advise(self)
    }

    /// The views that the checkers look at, built.
    fn built(&mut self) -> Result<(&Model, &Layout, &Ops, Option<&Code>)> {
        let model = &self.model;
        if self.scopes.is_none() {
            self.scopes = Some(Layout::scopes(model)?);
        }
        self.ops.get_or_insert_with(|| Ops::new(model));
        let code = self.code.get_or_insert_with(|| Code::new(model));
        let (Some(scopes), Some(ops)) = (&self.scopes, &self.ops) else {
            unreachable!("both were just built");
        };
        Ok((model, scopes, ops, code.as_ref()))
    }

    fn nodes(
        &mut self,
        command: &str,
        options: &Options,
        filters: &Filters,
        answer: &mut Answer,
    ) -> Result<Option<String>> {
        if options.output == "pprof" {
            answer.warnings.push("Only 'code' view supports pprof output now.".into());
            return Ok(None);
        }
        let is_graph = command == "graph";
        let slot = if is_graph { &mut self.graph } else { &mut self.scopes };
        if slot.is_none() {
            *slot = Some(match is_graph {
                true => Layout::graph(&self.model),
                false => Layout::scopes(&self.model)?,
            });
        }
        let layout = slot.as_ref().expect("it was just built");
        if options.output == "timeline" {
            let steps: Vec<i64> = match is_graph && options.step < 0 {
                true => self.model.steps.iter().copied().collect(),
                false => vec![options.step],
            };
            for step in steps {
                let options = Options { step, ..options.clone() };
                let metrics = self.figures.of(&self.model, step);
                let view = layout.view(&self.model, metrics, &options, filters);
                let trace = match is_graph {
                    true => timeline::graph(&self.model, layout, &view, step, answer),
                    false => timeline::scopes(&self.model, layout, &view),
                };
                timeline::deliver(trace, &options, answer);
            }
            return Ok(None);
        }
        let metrics = self.figures.of(&self.model, options.step);
        let view = layout.view(&self.model, metrics, options, filters);
        view.shown.hidden.warn(options, &mut answer.warnings);
        let mut text = words::heading(options, true);
        let mut value = |name: &str| match &self.checkpoint {
            Some(checkpoint) => value(checkpoint, name, &mut answer.warnings),
            None => Ok(None),
        };
        layout.write(&self.model, options, &view, &mut value, &mut text)?;
        Ok(Some(text))
    }

    fn ops(&mut self, options: &Options, filters: &Filters, answer: &mut Answer) -> Option<String> {
        match options.output.as_str() {
            "pprof" => {
                answer.warnings.push("Only 'code' view supports pprof output now.".into());
                None
            }
            "timeline" => {
                let text = "op view doesn't support timeline yet. Consider graph/scope/code view.";
                answer.warnings.push(text.into());
                None
            }
            _ => {
                let ops = self.ops.get_or_insert_with(|| Ops::new(&self.model));
                let figures = self.figures.of(&self.model, options.step);
                if let Some(view) = ops.view(&self.model, figures, options, filters) {
                    view.hidden.warn(options, &mut answer.warnings);
                    return Some(view.write(&self.model, options));
                }
                Some(ops::write_nothing(&self.model, options))
            }
        }
    }

    fn code(&mut self, options: &Options, filters: &Filters, answer: &mut Answer) -> Option<String> {
        if !self.model.has_code {
            answer.warnings.push("No code trace information".into());
            return None;
        }
        let model = &self.model;
        let is_new = self.code.is_none();
        let Some(code) = self.code.get_or_insert_with(|| Code::new(model)) else {
            answer.warnings.push("No code trace information".into());
            return None;
        };
        if is_new && code.lost_gradients > 0 {
            answer.warnings.push(format!("{} gradient nodes not accounted", code.lost_gradients));
        }
        if options.output == "pprof"
            && let Err(refusal) = pprof::check(options)
        {
            answer.warnings.push(refusal);
            return None;
        }
        if options.account_displayed_op_only {
            answer.warnings.push("Note: code view ignores account_displayed_op_only".into());
        }
        let metrics = self.figures.of(model, options.step);
        let Some(view) = code.view(model, metrics, options, filters) else {
            let text = "Nothing is left of the code view, not even its root: -max_depth is below 1 or \
                        -trim_name_regexes matches the root. TensorFlow crashes here.";
            answer.warnings.push(text.into());
            return None;
        };
        view.shown.hidden.warn(options, &mut answer.warnings);
        if options.selects("tensor_value") {
            answer.warnings.push("code view has no tensor value to show".into());
        }
        match options.output.as_str() {
            "timeline" => {
                timeline::deliver(timeline::code(model, code, &view), options, answer);
                None
            }
            "pprof" => {
                let name = options.output_options.get("outfile").cloned().unwrap_or_default();
                let _ = writeln!(answer.text, "\nRun pprof -png --nodecount=100 --sample_index=1 <{name}>");
                answer.files.push((name, pprof::write(model, code, &view, options)));
                None
            }
            _ => Some(code.write(model, options, &view)),
        }
    }
}

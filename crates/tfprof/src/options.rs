//! The options of tfprof: their names, values, defaults and how they are typed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Words that may be the first of a line.
pub const COMMANDS: [&str; 7] = ["scope", "graph", "code", "op", "advise", "set", "help"];
/// What siblings can be ordered by.
pub const ORDERS: [&str; 11] = [
    "name", "bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros",
    "cpu_micros", "params", "float_ops", "occurrence",
];
/// What can be shown of a node.
pub const COLUMNS: [&str; 14] = [
    "bytes", "micros", "params", "float_ops", "tensor_value", "device", "op_types", "occurrence",
    "input_shapes", "accelerator_micros", "cpu_micros", "peak_bytes", "residual_bytes", "output_bytes",
];
/// Where the answer goes.
pub const OUTPUTS: [&str; 5] = ["timeline", "stdout", "file", "pprof", "none"];

/// The names of the options in the order in which they are listed.
pub const NAMES: [&str; 21] = [
    "-max_depth", "-min_bytes", "-min_peak_bytes", "-min_residual_bytes", "-min_output_bytes", "-min_micros",
    "-min_accelerator_micros", "-min_cpu_micros", "-min_params", "-min_float_ops", "-min_occurrence",
    "-step", "-order_by", "-account_type_regexes", "-start_name_regexes", "-trim_name_regexes",
    "-show_name_regexes", "-hide_name_regexes", "-account_displayed_op_only", "-select", "-output",
];

/// Values of all options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Levels that are shown; the root is the first.
    pub max_depth: i32,
    /// Least bytes asked for, and so on, in the order of [`NAMES`] from `-min_bytes` to `-min_occurrence`.
    pub min: [i64; 10],
    /// The step; negative for the average of all.
    pub step: i64,
    /// What siblings are ordered by; any unknown word means by name, the empty one not at all.
    pub order_by: String,
    /// Expressions of the five `_regexes` options, in the order of [`NAMES`].
    pub regexes: [Vec<String>; 5],
    /// Devices that are looked at, in whatever case; none for all. TensorFlow 2.21 has dropped it.
    pub device_regexes: Vec<String>,
    /// Count only what is shown.
    pub account_displayed_op_only: bool,
    /// What is shown of a node.
    pub select: BTreeSet<String>,
    /// Where the answer goes.
    pub output: String,
    /// More about where.
    pub output_options: BTreeMap<String, String>,
    /// Units of time in a microsecond. Least times count in them as soon as a model was asked.
    pub ticks: i64,
}

/// The order of the figures in [`Options::min`].
pub mod least {
    /// Bytes asked for.
    pub const BYTES: usize = 0;
    /// Peak bytes.
    pub const PEAK: usize = 1;
    /// Residual bytes.
    pub const RESIDUAL: usize = 2;
    /// Output bytes.
    pub const OUTPUT: usize = 3;
    /// Microseconds.
    pub const MICROS: usize = 4;
    /// Microseconds on accelerators.
    pub const ACCELERATOR: usize = 5;
    /// Microseconds on other devices.
    pub const CPU: usize = 6;
    /// Parameters.
    pub const PARAMS: usize = 7;
    /// Operations.
    pub const FLOPS: usize = 8;
    /// Executions, or nodes of a type.
    pub const OCCURRENCE: usize = 9;
}

/// The order of the expressions in [`Options::regexes`].
pub mod which {
    /// Types that are counted.
    pub const ACCOUNT: usize = 0;
    /// Names to start from.
    pub const START: usize = 1;
    /// Names below which nothing is shown.
    pub const TRIM: usize = 2;
    /// Names that are shown.
    pub const SHOW: usize = 3;
    /// Names that are not.
    pub const HIDE: usize = 4;
}

impl Default for Options {
    /// The defaults of the command line of TensorFlow 2.21.
    fn default() -> Self {
        let all = || vec![".*".to_owned()];
        Options {
            max_depth: 10,
            min: [0; 10],
            step: -1,
            order_by: "name".into(),
            regexes: [all(), all(), Vec::new(), all(), Vec::new()],
            device_regexes: Vec::new(),
            account_displayed_op_only: false,
            select: BTreeSet::from(["micros".to_owned()]),
            output: "stdout".into(),
            output_options: BTreeMap::new(),
            ticks: 1,
        }
    }
}

/// Why a line or a value was refused, as TensorFlow says it.
pub type Refusal = String;

fn refused(name: &str, value: Option<&String>) -> Refusal {
    let value = value.map_or("", String::as_str);
    format!("INVALID_ARGUMENT: Invalid option '{name}' value: '{value}'")
}

fn split(list: &str) -> Vec<String> {
    let quotes: &[char] = &['"', '\''];
    let parts = list.trim_matches(quotes).split(',');
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A number as TensorFlow reads it: blanks around it are allowed, a plus sign is not.
fn int(text: &str) -> Option<i64> {
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().next()?.is_ascii_digit().then(|| text.parse().ok())?
}

fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

impl Options {
    /// The options for a model whose times have so many units a microsecond.
    pub fn in_ticks(&self, ticks: i64) -> Options {
        let mut own = Options { ticks, ..self.clone() };
        for place in [least::MICROS, least::ACCELERATOR, least::CPU] {
            own.min[place] = own.min[place].saturating_mul(ticks);
        }
        own
    }

    /// True when the column is asked for.
    pub fn selects(&self, column: &str) -> bool {
        self.select.contains(column)
    }

    /// Reads a line: a command and options behind it. Fails without having changed what came before.
    pub fn read_line(&mut self, line: &str) -> Result<String, Refusal> {
        let words: Vec<String> = line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let Some(command) = words.first().filter(|word| COMMANDS.contains(&word.as_str())) else {
            return Err("INVALID_ARGUMENT: First string must be a valid command.".into());
        };
        let mut at = 1;
        while at < words.len() {
            let value = words.get(at + 1);
            if words[at] == "-account_displayed_op_only" && value.is_none_or(|value| value.starts_with('-')) {
                self.account_displayed_op_only = true;
                at += 1;
                continue;
            }
            self.set(&words[at], value)?;
            at += 2;
        }
        Ok(command.clone())
    }

    /// Sets one option; words that are not known are refused.
    pub fn set(&mut self, name: &str, value: Option<&String>) -> Result<(), Refusal> {
        let (Some(place), Some(given)) = (NAMES.iter().position(|known| *known == name), value) else {
            return Err(refused(name, value));
        };
        let refuse = || refused(name, value);
        match place {
            0 => {
                let depth = int(given).and_then(|depth| i32::try_from(depth).ok());
                self.max_depth = depth.ok_or_else(refuse)?;
            }
            1..=10 => self.min[place - 1] = int(given).ok_or_else(refuse)?,
            11 => self.step = int(given).ok_or_else(refuse)?,
            12 if ORDERS.contains(&given.as_str()) => self.order_by.clone_from(given),
            13..=17 => self.regexes[place - 13] = split(given),
            18 => self.account_displayed_op_only = truth(given).ok_or_else(refuse)?,
            19 => {
                let columns: BTreeSet<String> = split(given).into_iter().collect();
                if columns.iter().any(|column| !COLUMNS.contains(&column.as_str())) {
                    return Err(refuse());
                }
                self.select = columns;
            }
            20 => self.set_output(given)?,
            _ => return Err(refuse()),
        }
        Ok(())
    }

    /// Sets where the answer goes: `stdout`, `none`, or `file`, `timeline`, `pprof` with `:outfile=PATH`.
    pub fn set_output(&mut self, text: &str) -> Result<(), Refusal> {
        if text.is_empty() {
            self.output = "stdout".into();
            return Ok(());
        }
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        if !OUTPUTS.contains(&kind) {
            return Err(format!(
                "INVALID_ARGUMENT: E.g. Unknown output type: {kind}, Valid types: file,none,pprof,stdout,timeline\n"
            ));
        }
        self.output = kind.to_owned();
        let writes = matches!(kind, "file" | "pprof" | "timeline");
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let parts: Vec<&str> = pair.split('=').filter(|part| !part.is_empty()).collect();
            let [key, value] = parts[..] else {
                return Err(
                    "INVALID_ARGUMENT: Visualize format: -output timeline:key=value,key=value,...".into()
                );
            };
            if key != "outfile" || !writes {
                return Err(format!(
                    "INVALID_ARGUMENT: Unrecognized options {key} for output_type: {kind}\n"
                ));
            }
            self.output_options.insert(key.into(), value.into());
        }
        if writes && !self.output_options.contains_key("outfile") {
            return Err(format!(
                "INVALID_ARGUMENT: Missing required output_options for {kind}\nE.g. -output {kind}:outfile=...\n"
            ));
        }
        Ok(())
    }

    /// The list of all options, one a line.
    pub fn list(&self) -> String {
        let mut values = vec![self.max_depth.to_string()];
        values.extend(self.min.iter().map(i64::to_string));
        values.push(self.step.to_string());
        values.push(self.order_by.clone());
        values.extend(self.regexes.iter().map(|list| list.join(",")));
        values.push(self.account_displayed_op_only.to_string());
        values.push(self.select.iter().map(String::as_str).collect::<Vec<_>>().join(","));
        let more: Vec<String> =
            self.output_options.iter().map(|(key, value)| format!("{key}={value}")).collect();
        values.push(format!("{}:{}", self.output, more.join(",")));
        let mut out = String::new();
        for (name, value) in NAMES.iter().zip(values) {
            let _ = writeln!(out, "{name:<28}{value}");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were() {
        let mut options = Options::default();
        let command =
            options.read_line("scope -max_depth 3 -select 'params,bytes' -account_displayed_op_only -step 2");
        assert_eq!(command.as_deref(), Ok("scope"));
        assert_eq!((options.max_depth, options.step), (3, 2));
        assert!(options.account_displayed_op_only && options.selects("bytes"));
        let refusals = [
            ("", "First string must be a valid command."),
            ("set -max_depth", "Invalid option '-max_depth' value: ''"),
            ("set -bogus 1", "Invalid option '-bogus' value: '1'"),
            ("scope -max_depth abc", "Invalid option '-max_depth' value: 'abc'"),
            (
                "scope -output bogus",
                "E.g. Unknown output type: bogus, Valid types: file,none,pprof,stdout,timeline\n",
            ),
        ];
        for (line, refusal) in refusals {
            let said = Options::default().read_line(line).unwrap_err();
            assert_eq!(said, format!("INVALID_ARGUMENT: {refusal}"));
        }
    }
}

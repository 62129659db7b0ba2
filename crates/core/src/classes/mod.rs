//! What a slice is, by what it is called: the rules of `slices.rules`, which says how it is written.

mod patterns;

use patterns::Patterns;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a slice is called, and where it lies.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'a> {
    /// Name as found.
    pub name: Option<&'a str>,
    /// Category as found.
    pub category: Option<&'a str>,
    /// Op or graph node it executes.
    pub op_name: Option<&'a str>,
    /// Type of that op.
    pub op_type: Option<&'a str>,
    /// device, host, launch or none.
    pub place: &'a str,
    /// What wrote the source.
    pub producer: &'a str,
    /// Name of the track.
    pub thread: &'a str,
    /// The row shows copies, whatever these are called.
    pub copies: bool,
    /// The name's letters alone, where a kind of collective is asked for.
    pub letters: Option<&'a str>,
}

/// What a slice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class {
    /// It stands for an op.
    pub is_op: bool,
    /// What it does.
    pub class: &'static str,
    /// What it waits for.
    pub wait: Option<&'static str>,
    /// What a step may go to while it runs.
    pub layer: Option<&'static str>,
}

impl Class {
    /// It is neither a wait nor a wait for input.
    pub fn acts(&self) -> bool {
        !matches!(self.class, "input" | "wait")
    }
}

/// What the thread that runs the program does in a slice. A label that ends in `!` holds for all within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doing {
    /// In a short one.
    pub label: Option<&'static str>,
    /// In a long one.
    pub long: Option<&'static str>,
    /// In a long one where no accelerator is.
    pub eager: Option<&'static str>,
    /// XLA makes a program in it.
    pub builds: bool,
}

/// A line of the rules, for people.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// `list`, `fact`, or the fact that it decides.
    pub of: &'static str,
    /// Name of the list or fact, or the value.
    pub value: &'static str,
    /// Patterns, what the fact is, or conditions.
    pub text: &'static str,
    /// Comments in front of it.
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Column {
    Name,
    Category,
    OpName,
    OpType,
    Called,
    Titled,
    Bare,
    Place,
    Producer,
    Thread,
    Copies,
    Letters,
    Fact(usize),
}

struct Condition {
    column: Column,
    wanted: bool,
    patterns: Patterns,
}

struct Rule {
    value: Option<&'static str>,
    conditions: Vec<Condition>,
}

const FACTS: [&str; 9] = ["op", "class", "wait", "layer", "label", "long", "eager", "builds", "collective"];
/// Characters of a name that a kind of collective is looked for in: names may have a megabyte.
const MOST_LETTERS: usize = 400;
/// What was found of the facts.
type Found = [Option<&'static str>; FACTS.len()];

#[derive(Default)]
struct Rules {
    lines: Vec<Line>,
    lists: HashMap<&'static str, Vec<String>>,
    facts: [Vec<Rule>; FACTS.len()],
}

static RULES: LazyLock<Rules> = LazyLock::new(|| match Rules::read(include_str!("slices.rules")) {
    Ok(rules) => rules,
    Err(line) => unreachable!("slices.rules: {line}"),
});
static COMPILES: LazyLock<Patterns> = LazyLock::new(|| RULES.list("compiles"));
static MARKS: LazyLock<Patterns> = LazyLock::new(|| RULES.list("marks_steps"));
static NOTIFIES: LazyLock<Patterns> = LazyLock::new(|| RULES.list("notifies"));
static EXCHANGES: LazyLock<Patterns> = LazyLock::new(|| RULES.list("exchanges"));

/// What a slice is.
pub fn class(texts: &Texts<'_>) -> Class {
    let mut found = Found::default();
    RULES.find(&mut found, 0..4, texts);
    Class { is_op: found[0].is_some(), class: found[1].unwrap_or("compute"), wait: found[2], layer: found[3] }
}

/// What the thread that runs the program does in a slice: of its texts, name, category and op_name count.
pub fn doing(texts: &Texts<'_>) -> Doing {
    let mut found = Found::default();
    RULES.find(&mut found, 4..8, texts);
    Doing {
        label: found[4],
        long: found[5].or(found[4]),
        eager: found[6].or(found[5]).or(found[4]),
        builds: found[7].is_some(),
    }
}

/// The kind of collective that a name says.
pub fn collective(name: &str) -> Option<&'static str> {
    let small = |letter: char| letter.is_ascii_lowercase() || letter == ':';
    let begin: String = name.chars().take(MOST_LETTERS).collect();
    let letters: String = begin.to_lowercase().chars().filter(|letter| small(*letter)).collect();
    let mut found = Found::default();
    let texts = Texts { letters: Some(&letters), ..Texts::default() };
    RULES.find(&mut found, 8..9, &texts);
    found[8]
}

/// Whether a slice of that name compiles: a step that holds much of it is not an ordinary one.
pub fn compiles(name: &str) -> bool {
    COMPILES.hold(name)
}

/// Whether slices of that name may be steps of the program's loop, by names that are known.
pub fn marks_step(name: &str) -> bool {
    MARKS.hold(name)
}

/// What a task of an Ascend device says of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// It carries out collectives, if it does nothing else.
    Notifies,
    /// Nothing.
    Exchanges,
    /// It does other work.
    Works,
}

/// What a task of that name says of its stream.
pub fn task(name: &str) -> Task {
    match () {
        () if NOTIFIES.hold(name) => Task::Notifies,
        () if EXCHANGES.hold(name) => Task::Exchanges,
        () => Task::Works,
    }
}

/// All lines of the rules, in their order.
pub fn lines() -> &'static [Line] {
    &RULES.lines
}

impl Rules {
    /// Reads the rules; a line that is none is the error.
    fn read(text: &'static str) -> Result<Rules, String> {
        let mut rules = Rules::default();
        let mut about = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(comment) = line.strip_prefix('#') {
                about += comment.trim_start_matches(' ');
                about.push('\n');
                continue;
            }
            if line.is_empty() {
                about.clear();
                continue;
            }
            let mut whole = line.to_owned();
            while let Some(more) = lines.next_if(|next| next.starts_with("  ")) {
                whole.push(' ');
                whole += more.trim();
            }
            // Read once, for as long as the process lives.
            let whole: &'static str = whole.leak();
            let (of, value, text) = whole
                .split_once(':')
                .and_then(|(head, text)| {
                    let (of, value) = head.split_once(' ')?;
                    Some((of, value, text.trim()))
                })
                .ok_or(whole)?;
            let about: &'static str = std::mem::take(&mut about).leak();
            rules.add(of, value, text).ok_or(whole)?;
            rules.lines.push(Line { of, value, text, about: about.trim_end() });
        }
        Ok(rules)
    }

    fn add(&mut self, of: &str, value: &'static str, text: &'static str) -> Option<()> {
        match of {
            "list" => {
                let all = self.written_out(text)?;
                self.lists.insert(value, all);
            }
            "fact" => {
                FACTS.iter().find(|fact| **fact == value)?;
            }
            of => {
                let fact = FACTS.iter().position(|fact| *fact == of)?;
                let conditions = text.split("; ").filter(|text| !text.is_empty());
                let conditions = conditions.map(|text| self.condition(text, fact));
                let rule = Rule {
                    value: (value != "-").then_some(value),
                    conditions: conditions.collect::<Option<_>>()?,
                };
                self.facts[fact].push(rule);
            }
        }
        Some(())
    }

    /// Patterns, with those of lists in the place of these.
    fn written_out(&self, text: &str) -> Option<Vec<String>> {
        let mut all = Vec::new();
        for pattern in text.split(" | ") {
            let Some((before, rest)) = pattern.split_once('@') else {
                all.push(pattern.to_owned());
                continue;
            };
            let after = if rest.ends_with('>') { ">" } else { "" };
            let list = self.lists.get(rest.trim_end_matches('>'))?;
            all.extend(list.iter().map(|one| format!("{before}{one}{after}")));
        }
        Some(all)
    }

    fn condition(&self, text: &str, fact: usize) -> Option<Condition> {
        let (column, rest) = text.split_once(' ')?;
        let (word, patterns) = rest.split_once(' ')?;
        let column = match column {
            "name" => Column::Name,
            "category" => Column::Category,
            "op_name" => Column::OpName,
            "op_type" => Column::OpType,
            "called" => Column::Called,
            "titled" => Column::Titled,
            "bare" => Column::Bare,
            "place" => Column::Place,
            "producer" => Column::Producer,
            "thread" => Column::Thread,
            "copies" => Column::Copies,
            "letters" => Column::Letters,
            other => Column::Fact(FACTS[..fact].iter().position(|fact| *fact == other)?),
        };
        let wanted = match word {
            "is" => true,
            "not" => false,
            _ => return None,
        };
        Some(Condition { column, wanted, patterns: patterns_of(&self.written_out(patterns)?) })
    }

    fn list(&self, name: &str) -> Patterns {
        patterns_of(self.lists.get(name).map_or(&[], Vec::as_slice))
    }

    fn find(&self, found: &mut Found, facts: std::ops::Range<usize>, texts: &Texts<'_>) {
        for fact in facts {
            let rule = self.facts[fact].iter().find(|rule| {
                let mut conditions = rule.conditions.iter();
                conditions.all(|one| one.holds(texts, found))
            });
            found[fact] = rule.and_then(|rule| rule.value);
        }
    }
}

fn patterns_of(texts: &[String]) -> Patterns {
    let mut patterns = Patterns::default();
    texts.iter().for_each(|text| patterns.add(text));
    patterns
}

impl Condition {
    fn holds(&self, texts: &Texts<'_>, found: &Found) -> bool {
        let text = match self.column {
            Column::Name => texts.name,
            Column::Category => texts.category,
            Column::OpName => texts.op_name,
            Column::OpType => texts.op_type,
            Column::Called => texts.op_type.or(texts.name),
            Column::Titled => texts.op_type.or(texts.op_name).or(texts.name),
            Column::Bare if texts.op_type.is_none() => texts.name,
            Column::Bare => None,
            Column::Place => Some(texts.place),
            Column::Producer => Some(texts.producer),
            Column::Thread => Some(texts.thread),
            Column::Copies => texts.copies.then_some("yes"),
            Column::Letters => texts.letters,
            Column::Fact(fact) => found[fact],
        };
        text.is_some_and(|text| self.patterns.hold(text)) == self.wanted
    }
}

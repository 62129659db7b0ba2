use super::*;
use crate::formats::hlo::module;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

/// An operation of a generated program: which, and from how far back its operands come.
type Op = (u8, u8, u8, u8);

const KINDS: [&str; 6] = ["add", "multiply", "subtract", "maximum", "tanh", "negate"];

/// A program of `ops`, every fourth of which is an op of its own in a loop's body or a fusion. prefix: of all names.
/// without: numbers of operations that are left out; who uses them then names nothing.
fn program(ops: &[Op], prefix: &str, without: &BTreeSet<usize>) -> String {
    let mut text = String::from("HloModule m\n\n");
    let mut main = String::new();
    let _ = writeln!(main, "ENTRY {prefix}main {{\n  {prefix}v0 = f32[8]{{0}} parameter(0)");
    for (at, &(kind, one, other, size)) in ops.iter().enumerate() {
        let number = at + 1;
        let back = |by: u8| number - 1 - usize::from(by) % number;
        let operand = |by: u8| format!("{prefix}v{}", back(by));
        let shape = format!("f32[{}]{{0}}", 8 + size % 3);
        let inside = at % 4 == 3;
        if inside {
            let _ = writeln!(
                text,
                "{prefix}f{number} {{\n  {prefix}p{number} = {shape} parameter(0)\n  ROOT {prefix}q{number} = {shape} exponential({prefix}p{number})\n}}\n"
            );
        }
        if without.contains(&number) {
            continue;
        }
        let _ = match KINDS[usize::from(kind) % KINDS.len()] {
            _ if inside => writeln!(
                main,
                "  {prefix}v{number} = {shape} fusion({}), kind=kLoop, calls={prefix}f{number}",
                operand(one)
            ),
            name @ ("tanh" | "negate") => {
                writeln!(main, "  {prefix}v{number} = {shape} {name}({})", operand(one))
            }
            name => {
                writeln!(main, "  {prefix}v{number} = {shape} {name}({}, {})", operand(one), operand(other))
            }
        };
    }
    let _ = writeln!(main, "  ROOT {prefix}out = (f32[8]{{0}}) tuple({prefix}v{})\n}}", ops.len());
    text + &main
}

fn read(text: &str) -> Module {
    module(text.as_bytes()).expect("a module")
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(any::<Op>(), 1..60)
}

proptest! {
    #[test]
    fn a_module_against_itself_is_empty(ops in ops()) {
        let one = read(&program(&ops, "", &BTreeSet::new()));
        let found = changes(&one, &one, true);
        prop_assert_eq!(found.pairs.len(), one.instructions.len());
        prop_assert!(found.pairs.iter().all(|it| it.0 == it.1 && it.3 == 0));
        prop_assert!(found.removed.is_empty() && found.added.is_empty());
    }

    #[test]
    fn other_names_change_nothing(ops in ops(), gone in prop::collection::btree_set(1_usize..60, 0..4)) {
        let one = read(&program(&ops, "", &BTreeSet::new()));
        let other = program(&ops, "", &gone);
        let renamed = program(&ops, "zz_", &gone);
        prop_assert_eq!(matching(&one, &read(&other), true), matching(&one, &read(&renamed), true));
        let same = changes(&one, &read(&program(&ops, "y", &BTreeSet::new())), true);
        prop_assert!(same.pairs.iter().all(|it| it.3 == 0) && same.removed.is_empty());
    }

    #[test]
    fn the_other_way_round_is_the_mirror(ops in ops(), more in ops(), gone in prop::collection::btree_set(1_usize..60, 0..6)) {
        let one = read(&program(&ops, "", &gone));
        let mut changed = ops.clone();
        let length = changed.len().min(more.len()) / 4;
        changed[..length].copy_from_slice(&more[..length]);
        let other = read(&program(&changed, "", &BTreeSet::new()));
        let mut back: Matching = matching(&other, &one, true).into_iter().map(|(b, a, basis)| (a, b, basis)).collect();
        back.sort_unstable();
        prop_assert_eq!(matching(&one, &other, true), back);
        let (there, back) = (changes(&one, &other, true), changes(&other, &one, true));
        prop_assert_eq!(there.removed, back.added);
        prop_assert_eq!(there.added, back.removed);
    }

    #[test]
    fn what_is_deleted_is_what_is_reported(ops in ops(), gone in prop::collection::btree_set(1_usize..60, 1..5)) {
        let whole = read(&program(&ops, "", &BTreeSet::new()));
        let less = read(&program(&ops, "", &gone));
        let found = changes(&whole, &less, true);
        prop_assert!(found.added.is_empty());
        // Which of two that are alike is gone nobody can know: what is gone is compared by what it is.
        let what = |at: &crate::formats::hlo::model::Instruction| format!("{} {}", at.opcode, at.shape);
        let mut expected: Vec<String> = (whole.instructions.iter())
            .filter(|it| it.name.strip_prefix('v').and_then(|it| it.parse().ok()).is_some_and(|it| gone.contains(&it)))
            .map(what)
            .collect();
        let mut said: Vec<String> = found.removed.iter().map(|it| what(&whole.instructions[it.0 as usize])).collect();
        expected.sort_unstable();
        said.sort_unstable();
        prop_assert_eq!(said, expected);
    }

    #[test]
    fn chains_keep_the_less_sure_basis(ops in ops(), gone in prop::collection::btree_set(1_usize..60, 1..5)) {
        let whole = read(&program(&ops, "", &BTreeSet::new()));
        let less = read(&program(&ops, "", &gone));
        let (there, back) = (matching(&whole, &less, true), matching(&less, &whole, true));
        let round = chained(&there, &back);
        prop_assert_eq!(round.len(), there.len());
        prop_assert!(round.iter().all(|it| it.0 == it.1));
        prop_assert!(round.iter().zip(&there).all(|(one, other)| one.2 == other.2));
    }
}

const BEFORE: &str = "HloModule m

ENTRY e {
  a = f32[8,16]{1,0} parameter(0)
  b = f32[8,4]{1,0} parameter(1)
  t = f32[16,8]{1,0} transpose(a), dimensions={1,0}
  ROOT d = f32[16,4]{1,0} dot(t, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name=\"f/dot\"}
}
";

fn named(module: &Module, name: &str) -> u32 {
    module.instructions.iter().position(|it| &*it.name == name).expect(name) as u32
}

#[test]
fn a_transpose_is_folded_into_its_dot() {
    let after = BEFORE
        .lines()
        .filter(|line| !line.contains("transpose"))
        .collect::<Vec<_>>()
        .join("\n")
        .replace("dot(t, b), lhs_contracting_dims={1}", "dot(a, b), lhs_contracting_dims={0}");
    let (one, other) = (read(BEFORE), read(&after));
    let found = changes(&one, &other, true);
    assert_eq!(found.removed, [(named(&one, "t"), Fate::Folded, named(&one, "d"))]);
    assert_eq!(found.added, []);
    let dot = found.pairs.iter().find(|it| it.0 == named(&one, "d")).expect("the dot");
    let words: Vec<_> =
        (0..CHANGES.len()).filter(|bit| dot.3 >> bit & 1 == 1).map(|bit| CHANGES[bit]).collect();
    assert_eq!(words, ["operands", "attributes"]);
}

#[test]
fn fates_say_what_became_of_each() {
    let one = read(
        "HloModule m\n\nENTRY e {\n  a = f32[8] parameter(0)\n  x = f32[8] tanh(a)\n  y = f32[8] tanh(a)\n  z = f32[8] negate(x)\n  w = f32[8] exponential(y)\n  dead = f32[8] cosine(a)\n  s = f32[8] sine(w)\n  ROOT t = (f32[8], f32[8]) tuple(z, s)\n}\n",
    );
    let other = read(
        "HloModule m\n\nENTRY e {\n  a = f32[8] parameter(0)\n  x = f32[8] tanh(a)\n  z = f32[8] negate(x)\n  w = f32[8] exponential(x)\n  s = f32[8] sqrt(w)\n  ROOT t = (f32[8], f32[8]) tuple(z, s)\n}\n",
    );
    let found = changes(&one, &other, true);
    let fates: Vec<_> =
        found.removed.iter().map(|it| (one.instructions[it.0 as usize].opcode.to_string(), it.1)).collect();
    let expected = [("tanh", Fate::Merged), ("cosine", Fate::Unused), ("sine", Fate::Replaced)];
    assert_eq!(fates, expected.map(|(opcode, fate)| (opcode.to_owned(), fate)));
}

#[test]
fn what_has_another_size_is_still_itself() {
    let (one, other) = (read(BEFORE), read(&BEFORE.replace("8,", "32,").replace(",8]", ",32]")));
    let found = changes(&one, &other, true);
    assert!(found.removed.is_empty() && found.added.is_empty());
    assert!(found.pairs.iter().any(|it| it.2 == Basis::Resized && it.3 & 1 == 1));
}

#[test]
fn circles_and_what_is_missing_end() {
    let circle = read(
        "HloModule m\n\nENTRY e {\n  a = f32[8] negate(b)\n  b = f32[8] tanh(a)\n  c = f32[8] add(c, gone)\n  ROOT f = f32[8] fusion(f), kind=kLoop, calls=e\n}\n",
    );
    let found = changes(&circle, &read(BEFORE), true);
    assert_eq!(found.removed.len(), 4);
    assert_eq!(changes(&circle, &circle, true).pairs.len(), 4);
    let empty = Module::default();
    assert_eq!(changes(&empty, &read(BEFORE), true).added.len(), 4);
}

#[test]
fn wide_tuples_and_many_callers_take_no_time() {
    let mut text = String::from("HloModule m\n\nf {\n  p = f32[8] parameter(0)\n");
    for at in 0..20_000 {
        let _ = writeln!(text, "  q{at} = f32[8] negate(p)");
    }
    text += "  ROOT r = f32[8] tanh(p)\n}\n\nENTRY e {\n  c = f32[8] parameter(0)\n";
    for at in 0..20_000 {
        let _ = writeln!(text, "  b{at} = f32[8] call(c), to_apply=f");
    }
    let tuple = |step: usize| {
        let all: Vec<_> = (0..20_000).step_by(step).map(|at| format!("b{at}")).collect();
        format!("{text}  ROOT t = () tuple({})\n}}\n", all.join(", "))
    };
    let (one, other) = (read(&tuple(1)), read(&tuple(2).replace("call(c)", "map(c)")));
    let found = changes(&one, &other, true);
    assert_eq!((found.removed.len(), found.added.len()), (20_000, 20_000));
}

#[test]
fn a_constant_that_many_use_takes_no_time() {
    let mut text = String::from("HloModule m\n\nENTRY e {\n  c = f32[8] parameter(0)\n");
    for at in 0..30_000 {
        let _ = writeln!(text, "  b{at} = f32[8] add(c, c)");
    }
    let one = read(&(text.clone() + "  ROOT r = f32[8] negate(c)\n}\n"));
    let other = read(&(text + "  x = f32[8] tanh(c)\n  ROOT r = f32[8] negate(x)\n}\n"));
    let found = changes(&one, &other, true);
    assert_eq!((found.removed.len(), found.added.len()), (0, 1));
}

use super::cost::{Cost, costs};
use super::model::Written;
use super::*;
use crate::error::Kind;

pub const LOOP: &str = r#"HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}

FileNames
1 "/a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %x = f32[8]{0} get-tuple-element(%p), index=1
  %y = f32[8]{0} tanh(%x), metadata={op_name="jit(f)/\"tanh\"" stack_frame_id=2}
  ROOT %t = (s32[], f32[8]{0}) tuple(%next, %y)
}

%condition (q: (s32[], f32[8])) -> pred[] {
  %q = (s32[], f32[8]{0}) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %n = s32[] constant(5)
  ROOT %lt = pred[] compare(%j, /*index=1*/%n), direction=LT
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], f32[8]{0}) tuple(s32[] %zero, f32[8]{0} %a)
  %loop = (s32[], f32[8]{0}) while(%start), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"5"}}
  %custom = f32[8]{0:T(128)S(1)} custom-call(%a), custom_call_target="x{"
  ROOT %out = f32[8]{0} get-tuple-element(%loop), index=1
}
"#;

#[test]
fn text_is_read_with_calls_and_places() {
    let found = module(LOOP.as_bytes()).expect("a module");
    assert_eq!((found.name.as_str(), found.written, found.scheduled), ("jit_f", Written::Text, true));
    assert_eq!(found.computations.len(), 3);
    assert_eq!((found.dangling, found.lost, found.cut), (0, 0, false));
    assert_eq!(found.entry, Some(2));
    let named = |name: &str| found.instructions.iter().find(|one| &*one.name == name).expect(name);
    assert_eq!(&*named("y").op_name, "jit(f)/\"tanh\"");
    let place = found.place(named("y")).expect("a place");
    assert_eq!((place.file.as_str(), place.line, place.parent), ("/a.py", 7, 1));
    assert_eq!(found.frames[0].parent, 0);
    assert_eq!(named("loop").called, [0, 1]);
    assert_eq!(named("custom").shape.to_string(), "f32[8]{0:T(128)S(1)}");
    assert_eq!(named("custom").more.as_ref().expect("more").target, "x{");
    assert_eq!(named("lt").operands.len(), 2);
}

#[test]
fn loops_count_once_for_xla_and_run_as_often_as_they_run() {
    let found = costs(&module(LOOP.as_bytes()).expect("a module"));
    // Body: add 1 flop, 12 bytes; tanh 8, 64 bytes; tuple 16. Condition: compare 1 flop, 9 bytes. Entry: tuple 16.
    let xla = Cost { flops: 2.0 - 1.0, transcendentals: 8.0, bytes: 12.0 + 64.0 + 16.0 + 9.0 + 16.0 - 1.0 };
    assert_eq!(found.module, xla);
    let ran = found.module_ran;
    assert_eq!((ran.cost.flops, ran.cost.transcendentals), (5.0 + 6.0, 40.0));
    assert_eq!(ran.cost.bytes, 5.0 * 92.0 + 6.0 * 9.0 + 16.0);
    assert_eq!((ran.custom_calls, ran.open_loops), (1.0, 0.0));
}

#[test]
fn odd_text_is_read_as_far_as_it_goes() {
    let cut = &LOOP[..LOOP.find("ROOT %out").expect("its end")];
    let found = module(cut.as_bytes()).expect("a module");
    assert!(found.cut);
    assert_eq!(found.computations.len(), 3);
    let odd = LOOP.replace("tanh(%x)", "tanh(%nothing)").replace("%i = s32[] get", "%i = s32[ get");
    let found = module(odd.as_bytes()).expect("a module");
    assert_eq!((found.lost, found.dangling), (1, 2));
    let circle = LOOP.replace("body=%body", "body=%main");
    assert!(costs(&module(circle.as_bytes()).expect("a module")).cyclic);
    for bytes in [&b""[..], b"HloModule x", b"HloModule x\n\nENTRY a {\n}\n"] {
        assert!(module(bytes).is_err());
    }
    let introduced = format!("/* A licence\n * of its own. */\n\n// Made by hand.\n\n{LOOP}");
    assert!(super::text::looks_like(introduced.as_bytes()));
    let found = module(introduced.as_bytes()).expect("a module");
    assert_eq!((found.lost, found.computations.len()), (0, 3));
    let plain = LOOP.replace('%', "");
    assert_eq!(module(plain.as_bytes()).expect("a module").instructions.len(), 17);
}

#[test]
fn deep_tuples_are_an_error() {
    let deep = format!("HloModule x\n\nENTRY a {{\n  ROOT b = {} parameter(0)\n}}\n", "(".repeat(100_000));
    let error = module(deep.as_bytes()).expect_err("too deep");
    assert_eq!(error.kind, Kind::Limit);
}

#[test]
fn no_cut_of_a_text_panics() {
    for end in 0..LOOP.len() {
        let _ = module(&LOOP.as_bytes()[..end]).map(|found| costs(&found));
    }
}

#[test]
fn brackets_that_nothing_closes_take_no_time() {
    let line = "  a = f32[] x({\n";
    let text = format!("HloModule x\n\nENTRY a {{\n  b = f32[] parameter(0)\n{}", line.repeat(200_000));
    let found = module(text.as_bytes()).expect("one instruction");
    assert_eq!((found.instructions.len(), found.lost), (1, 200_000));
}

#[test]
fn loops_that_count_say_how_often_they_go_round() {
    let untold = LOOP.replace(", backend_config={\"known_trip_count\":{\"n\":\"5\"}}", "");
    assert_ne!(untold, LOOP);
    let trips = |text: &str| {
        let found = module(text.as_bytes()).expect("a module");
        costs(&found).trips.values().next().copied()
    };
    assert_eq!(trips(&untold), Some(5));
    assert_eq!(trips(&untold.replace("one = s32[] constant(1)", "one = s32[] constant(2)")), Some(3));
    assert_eq!(trips(&untold.replace("zero = s32[] constant(0)", "zero = s32[] constant(5)")), Some(0));
    for (from, to) in [
        ("one = s32[] constant(1)", "one = s32[] constant(-1)"),
        ("direction=LT", "direction=NE"),
        ("zero = s32[] constant(0)", "zero = s32[] copy(%a)"),
        ("add(%i, %one)", "add(%next, %one)"),
        ("n = s32[] constant(5)", "n = s32[] get-tuple-element(%q), index=1"),
    ] {
        assert_eq!(trips(&untold.replace(from, to)), None, "{to}");
    }
}

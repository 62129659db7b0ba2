use super::*;
use crate::wanted::Wanted;
use proptest::prelude::*;

const US: i64 = 1_000_000;

fn track(place: Place, slices: &[(i64, i64, u32)]) -> Track {
    let slices = slices.iter().map(|(from, to, kind)| Slice { from: from * US, to: to * US, kind: *kind });
    Track { place, slices: slices.collect() }
}

fn at(track: usize, us: i64) -> At {
    At { track, ps: us * US }
}

fn arrow(from: At, to: At, what: What) -> Arrow {
    Arrow { from, to, what }
}

fn recording(tracks: Vec<Track>, arrows: Vec<Arrow>, marks: &[i64]) -> Recording {
    Recording {
        tracks,
        arrows,
        driver: 0,
        doing: Vec::new(),
        marks: marks.iter().map(|us| us * US).collect(),
        may_wait: 0,
        may_join: 0,
        kinds: vec![Kind::default(); 8],
    }
}

fn doing(found: &[(i64, i64, Label)]) -> Vec<Doing> {
    let one = |(from, to, label): &(i64, i64, Label)| Doing { from: from * US, to: to * US, label: *label };
    found.iter().map(one).collect()
}

fn graph_of(recording: &Recording) -> Graph {
    Graph::of(recording, &Wanted::always()).unwrap()
}

fn replayed(graph: &Graph, change: &Change) -> Vec<i64> {
    graph.replay(change, &Wanted::always()).unwrap()
}

/// From the first mark to the last, in microseconds.
fn takes(graph: &Graph, change: &Change) -> i64 {
    let marks = replayed(graph, change);
    (marks[marks.len() - 1] - marks[0]) / US
}

fn without(kind: usize) -> Change {
    let mut kinds = vec![1.0; kind + 1];
    kinds[kind] = 0.0;
    Change { kinds, ..Change::default() }
}

fn unlabelled(label: usize) -> Change {
    let mut labels = vec![1.0; label + 1];
    labels[label] = 0.0;
    Change { labels, ..Change::default() }
}

/// A thread works for 100 us (kind 0), launches 300 us of a device (kind 1), works on for 100 us (kind 2) and waits
/// (kind 3) until that is done.
fn launched() -> Recording {
    let host = track(Place::Host, &[(0, 100, 0), (100, 105, 4), (105, 205, 2), (205, 410, 3)]);
    let device = track(Place::Device, &[(110, 405, 1)]);
    let mut one = recording(vec![host, device], vec![arrow(at(0, 100), at(1, 110), What::Launch)], &[0, 410]);
    one.kinds[3].waits = true;
    one
}

#[test]
fn what_is_hidden_behind_a_device_gains_nothing_and_comes_out_when_that_goes() {
    let graph = graph_of(&launched());
    assert_eq!(takes(&graph, &Change::default()), 410);
    assert_eq!(takes(&graph, &without(2)), 410, "hidden behind the device");
    assert_eq!(takes(&graph, &without(0)), 310);
    // 105 of launching, 100 of work, and 5 to notice what was done at 110.
    assert_eq!(takes(&graph, &without(1)), 205);
    let mut half = without(1);
    half.kinds[1] = 0.5;
    assert_eq!(takes(&graph, &half), 110 + 147 + 5);
    assert_eq!(graph.counts.held_ps, 0);
}

#[test]
fn a_wait_for_what_nobody_recorded_stays_as_it_is() {
    let mut one = recording(vec![track(Place::Host, &[(0, 100, 0), (100, 400, 3)])], vec![], &[0, 400]);
    one.kinds[3].waits = true;
    let graph = graph_of(&one);
    assert_eq!(takes(&graph, &Change::default()), 400);
    assert_eq!(takes(&graph, &without(0)), 300);
    assert_eq!(graph.counts.held_ps, 300 * US);
}

#[test]
fn a_stream_that_was_busy_is_bound_by_itself_and_an_idle_one_by_its_launch() {
    // Launches every 10 us; kernels of 30 us, back to back from the second on.
    let host = track(Place::Host, &[(0, 10, 0), (10, 20, 0), (20, 30, 0), (30, 97, 3)]);
    let device = track(Place::Device, &[(5, 35, 1), (36, 66, 1), (67, 97, 1)]);
    let arrows = [(0, 5), (10, 36), (20, 67)];
    let arrows = arrows.map(|(from, to)| arrow(at(0, from), at(1, to), What::Launch));
    let mut one = recording(vec![host, device], arrows.to_vec(), &[0, 97]);
    one.kinds[3].waits = true;
    let graph = graph_of(&one);
    assert_eq!(takes(&graph, &Change::default()), 97);
    let mut faster = Change { kinds: vec![1.0, 0.1], ..Change::default() };
    // The last one begins 5 us after its launch at 20 and takes 3.
    assert_eq!(takes(&graph, &faster), 30);
    faster.kinds = vec![0.0, 1.0];
    // What it launches goes with it; 5 us from the first launch and the two gaps between kernels stay.
    assert_eq!(takes(&graph, &faster), 7);
}

#[test]
fn the_driving_thread_waits_only_where_its_label_lets_it() {
    let tracks = vec![track(Place::Host, &[(0, 200, 0)]), track(Place::Host, &[(20, 195, 1)])];
    let mut one = recording(tracks, vec![], &[0, 200]);
    one.doing = doing(&[(0, 100, 2), (100, 200, 1)]);
    let bound = graph_of(&one);
    assert_eq!(takes(&bound, &Change::default()), 200);
    assert_eq!(takes(&bound, &without(1)), 200, "nothing says that it waits");
    one.may_wait = 1 << 1;
    let free = graph_of(&one);
    assert_eq!(takes(&free, &Change::default()), 200);
    // The other thread is begun by what is done until 20; its end is noticed after 5, and 80 are left.
    assert_eq!(takes(&free, &without(1)), 100);
    assert_eq!(takes(&free, &unlabelled(2)), 180, "its own 175 and 5 to notice");
    let mut unbound = Change { unbound: 1 << 1, ..Change::default() };
    assert_eq!(takes(&free, &unbound), 100);
    unbound.labels = vec![1.0, 0.0, 0.5];
    assert_eq!(takes(&free, &unbound), 50);
}

#[test]
fn a_call_joins_what_it_handed_over_and_nothing_else() {
    let tracks = vec![track(Place::Host, &[(0, 20, 0), (30, 230, 1)]), track(Place::Host, &[(25, 225, 2)])];
    let mut one = recording(tracks, vec![], &[0, 230]);
    one.doing = doing(&[(0, 230, 1)]);
    one.may_join = 1 << 1;
    assert_eq!(takes(&graph_of(&one), &without(2)), 230);
    one.arrows = vec![arrow(at(0, 20), at(1, 25), What::Hand)];
    let graph = graph_of(&one);
    assert_eq!(takes(&graph, &Change::default()), 230);
    assert_eq!(takes(&graph, &without(2)), 30);
}

#[test]
fn participants_of_a_collective_come_when_the_last_one_does() {
    // Two ranks; the second comes 100 us late. The transfer takes 50 us.
    let first = track(Place::Host, &[(0, 100, 0), (100, 250, 3)]);
    let second = track(Place::Host, &[(0, 200, 1), (200, 250, 3)]);
    let both = |to| [0, 1].map(|from| arrow(at(from, 100 + 100 * from as i64), at(to, 250), What::Link));
    let mut arrows: Vec<Arrow> = [both(0), both(1)].concat();
    arrows.retain(|one| one.from.track != one.to.track || one.from.ps == 200 * US);
    arrows[0].from = at(1, 200);
    let mut one = recording(vec![first, second], arrows, &[0, 250]);
    one.kinds[3].waits = true;
    one.may_wait = 0;
    let graph = graph_of(&one);
    assert_eq!(takes(&graph, &Change::default()), 250);
    let mut change = without(1);
    change.kinds[1] = 0.5;
    assert_eq!(takes(&graph, &change), 150);
    let wide = Change { link: 0.5, ..Change::default() };
    assert_eq!(takes(&graph, &wide), 225);
}

/// An op (kind 1) of a thread hands parts of its work to another one, which works from a slice of no duration (kind 5)
/// to the next (kind 6), with a slice of its own (kind 2) in between.
#[test]
fn work_outside_of_slices_is_that_of_the_slice_it_was_handed_over_from() {
    let tracks = vec![
        track(Place::Host, &[(0, 100, 1), (100, 300, 3)]),
        track(Place::Host, &[(20, 20, 5), (120, 150, 2), (290, 290, 6)]),
    ];
    let mut one = recording(tracks, vec![arrow(at(0, 10), at(1, 20), What::Hand)], &[0, 300]);
    one.kinds[3].waits = true;
    one.kinds[5].opens = true;
    one.kinds[6].closes = true;
    let graph = graph_of(&one);
    assert_eq!(takes(&graph, &Change::default()), 300);
    assert_eq!(takes(&graph, &without(2)), 270);
    // Handed over at once, 10 to begin, 30 of its own slice, 10 to notice.
    assert_eq!(takes(&graph, &without(1)), 50);
}

#[test]
fn all_that_an_op_calls_and_launches_goes_with_it() {
    let host = [(0, 100, 0), (10, 40, 1), (20, 30, 0), (50, 70, 3), (100, 310, 4)];
    let tracks = vec![track(Place::Host, &host), track(Place::Device, &[(60, 300, 2)])];
    let launch = arrow(at(0, 55), at(1, 60), What::Launch);
    let mut one = recording(tracks, vec![launch], &[0, 310]);
    one.kinds[4].waits = true;
    let graph = graph_of(&one);
    assert_eq!(takes(&graph, &Change::default()), 310);
    // The launch at once, 5 until the kernel begins, 10 to notice that it is over.
    assert_eq!(takes(&graph, &without(0)), 15);
    // Of the launching slice goes what comes before and after the launch, and the kernel.
    assert_eq!(takes(&graph, &without(3)), 80);
    let mut half = without(0);
    half.kinds[0] = 0.5;
    assert_eq!(takes(&graph, &half), 27 + 5 + 120 + 10);
}

/// A slice around all kernels of a stream, each of which is launched by itself: neither time nor memory may grow with
/// the square of their number.
#[test]
fn many_launches_within_one_slice_of_a_stream() {
    let many = 200_000;
    let host: Vec<_> = (0..many).map(|n| (10 * n, 10 * n + 5, 0)).collect();
    let mut device: Vec<_> = (0..many).map(|n| (10 * n + 6, 10 * n + 12, 1)).collect();
    device.insert(0, (1, 10 * many + 20, 2));
    let arrows = (0..many).map(|n| arrow(at(0, 10 * n + 1), at(1, 10 * n + 6), What::Launch));
    let tracks = vec![track(Place::Host, &host), track(Place::Device, &device)];
    let graph = graph_of(&recording(tracks, arrows.collect(), &[0, 10 * many]));
    assert!(graph.frames.left(&[1.0]).len() < 100);
    assert_eq!(takes(&graph, &Change::default()), 10 * many);
}

#[test]
fn events_that_the_recorder_made_longer_are_taken_out_of_what_they_lie_in() {
    let one =
        recording(vec![track(Place::Host, &[(0, 100, 0), (10, 20, 1), (40, 41, 1)])], vec![], &[0, 100]);
    let change = Change { event_ps: 2 * US, ..Change::default() };
    // Three events; the last one lasts no longer than 1 us.
    assert_eq!(takes(&graph_of(&one), &change), 100 - 2 - 2 - 1);
}

#[test]
fn arrows_back_in_time_are_counted_and_those_in_a_circle_break_it() {
    let tracks = || {
        vec![track(Place::Host, &[(0, 10, 0), (10, 20, 0)]), track(Place::Host, &[(0, 10, 1), (10, 20, 1)])]
    };
    let arrows = vec![
        arrow(at(0, 10), at(1, 10), What::Hand),
        arrow(at(1, 10), at(0, 10), What::Hand),
        arrow(at(1, 20), at(0, 10), What::Hand),
    ];
    let graph = graph_of(&recording(tracks(), arrows, &[0, 20]));
    assert_eq!(graph.counts.backward, 1);
    assert_eq!(graph.counts.arrows, 2);
    assert_eq!(takes(&graph, &Change::default()), 20);
}

#[test]
fn nothing_recorded_gives_nothing() {
    let empty = recording(vec![track(Place::Host, &[])], vec![], &[]);
    assert!(replayed(&graph_of(&empty), &Change::default()).is_empty());
}

/// Asked so many times, somebody says no: each part of the work ends there, and does nothing more.
#[test]
fn what_nobody_wants_any_more_ends() {
    let many: Vec<(i64, i64, u32)> = (0..300_000).map(|n| (2 * n, 2 * n + 1, 0)).collect();
    let one = recording(vec![track(Place::Host, &many)], vec![], &[0, 500_000]);
    let graph = graph_of(&one);
    let asked = std::cell::Cell::new(0);
    let stops_at = |most: usize, work: &dyn Fn(&Wanted<'_>) -> bool| {
        asked.set(0);
        let ask = || {
            asked.set(asked.get() + 1);
            asked.get() < most
        };
        let ended = work(&Wanted::while_(&ask));
        (ended, asked.get())
    };
    let change = Change::default();
    let make = |wanted: &Wanted<'_>| Graph::of(&one, wanted).is_err();
    let run = |wanted: &Wanted<'_>| graph.replay(&change, wanted).is_err();
    let way = |wanted: &Wanted<'_>| graph.longest_way(&change, wanted).is_err();
    for work in [&make as &dyn Fn(&Wanted<'_>) -> bool, &run, &way] {
        assert_eq!(stops_at(1, work), (true, 1));
        assert_eq!(stops_at(4, work), (true, 4));
        assert!(!stops_at(usize::MAX, work).0);
    }
}

/// The same by asking each point for the latest of what it comes after, again and again. What would come after itself
/// is followed in the graph's order only.
fn by_force(graph: &Graph, change: &Change) -> Vec<i64> {
    let mut place = vec![0; graph.ps.len()];
    for (number, point) in graph.order.iter().enumerate() {
        place[*point as usize] = number;
    }
    let long = |point: usize| -> i64 {
        if graph.elastic[point] {
            return 0;
        }
        let long = graph.ps[point] - graph.ps[point - 1];
        let left = |all: &[f64], number: usize| all.get(number).copied().unwrap_or(1.0);
        let by_kind = graph.frames.left(&change.kinds)[graph.frame[point] as usize];
        (long as f64 * left(&change.labels, usize::from(graph.label[point])) * by_kind) as i64
    };
    fn comes(graph: &Graph, long: &dyn Fn(usize) -> i64, place: &[usize], point: usize) -> i64 {
        let mut all = Vec::new();
        if !graph.begins[point] {
            all.push(comes(graph, long, place, point - 1) + long(point));
        }
        for edge in graph.edges_of(point) {
            let from = edge.from as usize;
            if place[from] > place[point] {
                continue;
            }
            let next = from + 1 < graph.ps.len() && !graph.begins[from + 1];
            let part =
                if next && edge.part > 0.0 { long(from + 1) as f64 * f64::from(edge.part) } else { 0.0 };
            all.push(comes(graph, long, place, from) + edge.lag_ps + part as i64);
        }
        all.into_iter().max().unwrap_or(graph.ps[point])
    }
    let marks = graph.marks.iter();
    marks.map(|mark| comes(graph, &long, &place, *mark as usize)).collect()
}

prop_compose! {
    fn any_track(place: Place)(
        lengths in prop::collection::vec((0_i64..60, 0_i64..60, 0_u32..4), 1..5),
    ) -> Track {
        let mut now = 0;
        let slices: Vec<(i64, i64, u32)> = lengths.into_iter().map(|(gap, long, kind)| {
            let from = now + gap;
            now = from + long;
            (from, now, kind)
        }).collect();
        track(place, &slices)
    }
}

prop_compose! {
    fn any_recording()(
        host in any_track(Place::Host),
        other in any_track(Place::Host),
        device in any_track(Place::Device),
        arrows in prop::collection::vec((0_usize..3, 0_i64..200, 0_usize..3, 1_i64..100, 0_usize..3), 0..6),
        labels in prop::collection::vec(0_u8..3, 4),
        may_wait in 0_u32..8,
        may_join in 0_u32..8,
        waits in prop::collection::vec(any::<bool>(), 4),
    ) -> Recording {
        let end = host.slices.last().map_or(0, |one| one.to / US);
        let arrows = arrows.into_iter().map(|(from, begin, to, long, what)| {
            let what = [What::Launch, What::Hand, What::Link][what];
            arrow(at(from, begin), at(to, begin + long), what)
        });
        let mut one = recording(vec![host, other, device], arrows.collect(), &[0, end / 2, end]);
        let quarter = (end / 4).max(1);
        let parts = labels.iter().enumerate().map(|(n, label)| (n as i64 * quarter, (n as i64 + 1) * quarter, *label));
        one.doing = doing(&parts.collect::<Vec<_>>());
        one.may_wait = may_wait;
        one.may_join = may_join;
        one.kinds = waits.into_iter().map(|waits| Kind { waits, ..Kind::default() }).collect();
        one
    }
}

proptest! {
    #[test]
    fn the_replay_is_the_longest_way_to_each_mark(
        one in any_recording(),
        kinds in prop::collection::vec(0.0_f64..2.0, 4),
        labels in prop::collection::vec(0.0_f64..2.0, 3),
    ) {
        let graph = graph_of(&one);
        let change = Change { kinds, labels, ..Change::default() };
        prop_assert_eq!(replayed(&graph, &change), by_force(&graph, &change));
    }

    /// With the times that were recorded nothing comes later than it did.
    #[test]
    fn nothing_comes_later_than_recorded(one in any_recording()) {
        let graph = graph_of(&one);
        let marks: Vec<i64> = graph.marks.iter().map(|mark| graph.ps[*mark as usize]).collect();
        for (mark, was) in replayed(&graph, &Change::default()).into_iter().zip(marks) {
            prop_assert!(mark <= was, "{} after {}", mark, was);
        }
    }

    /// What takes less time makes nothing later.
    #[test]
    fn less_time_makes_nothing_later(one in any_recording(), kind in 0_usize..4, left in 0.0_f64..1.0) {
        let graph = graph_of(&one);
        let mut change = without(kind);
        change.kinds[kind] = left;
        let before = replayed(&graph, &Change::default());
        for (after, before) in replayed(&graph, &change).into_iter().zip(before) {
            prop_assert!(after <= before);
        }
    }
}

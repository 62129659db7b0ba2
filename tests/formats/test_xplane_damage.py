"""XPlane: damaged bytes end in a result that says what is missing, or in an error with its place."""

import random
from collections import Counter
from typing import Any

import pytest

from stepscope import _core
from tests import corpus
from tests.formats import xplane_reference as reference
from tests.formats.test_xplane import SAMPLE, check, decode, slices
from tests.formats.xplane_reference import Slice
from tests.tiers import cases

FLIPS = cases(1_000, 4_000)
MUTANTS = cases(400, 1_500)
EVERY = cases(5, 1)
"""Bytes between two cuts: five is prime to the sizes of most fields."""


def bare(found: Counter[Slice]) -> Counter[Any]:
    """Slices without names and args, which stand behind the lines and go first when a file is cut."""
    counted: Counter[Any] = Counter()
    for one, number in found.items():
        counted[one.origin, one.ts_ps, one.dur_ps] += number
    return counted


def attempt(data: bytes) -> Any:
    """The store; None when the decoder refuses the bytes with a place and a reason."""
    try:
        return decode(data, threads=1)
    except _core.CoreError as error:
        if error.kind not in ("damaged", "not_this_format") or error.offset is None:
            raise
        return None


def complaints(store: Any) -> list[str]:
    """Slugs of what is wrong with the file."""
    return [note["slug"] for note in store.facts["notes"] if note["effect"] != "info"]


@pytest.mark.repeats("structured mutants are compared beside it")
def test_cut_anywhere() -> None:
    data = SAMPLE.read_bytes()
    whole = bare(slices(decode(data)))
    before = 0
    for end in (*range(0, len(data), EVERY), len(data)):
        store = attempt(data[:end])
        if store is None:
            assert before == 0, "events that were there are lost again"
            continue
        found = bare(slices(store))
        facts = store.facts
        assert facts["events_seen"] == facts["events_stored"] + facts["events_lost"]
        if not reference.accepts(data[:end]):
            assert "truncated" in complaints(store), end
        if store.facts["origin_unix_ns"] is None:
            # The Task Environment comes last: lines count from the start of the recording either way.
            assert not found - whole
        assert found.total() >= before
        before = found.total()
    assert before == whole.total()


@pytest.mark.repeats("structured mutants and cuts are compared beside it")
def test_flipped_bits_agree_with_protobuf() -> None:
    data = SAMPLE.read_bytes()
    rng = random.Random(7)
    agreed = 0
    for _ in range(FLIPS):
        mutant = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            mutant[rng.randrange(len(mutant))] ^= 1 << rng.randrange(8)
        agreed += _same_as_protobuf(bytes(mutant))
    assert agreed > FLIPS // 10, "hardly any mutant was sound: the comparison compared nothing"


def _same_as_protobuf(mutant: bytes) -> bool:
    """Where protobuf accepts, the slices are equal. Where it refuses, we keep what is whole and say so."""
    sound = reference.accepts(mutant)
    store = attempt(mutant)
    if store is None:
        assert not sound or reference.slices(reference.parse(mutant)).total() == 0
        return False
    facts = store.facts
    assert facts["events_seen"] == facts["events_stored"] + facts["events_lost"]
    if not sound:
        assert complaints(store), "protobuf refuses it and we did not notice"
        return False
    if "time-out-of-range" in complaints(store):
        return True
    found, expected = slices(store), reference.slices(reference.parse(mutant))
    if any(map(_lacks_names, (*found, *expected))):
        # Of an entry without a value protobuf makes an empty name, and with an unknown field beside the
        # name it forgets it; we call the event by its number, and keep the name.
        found, expected = bare(found), bare(expected)
    assert found == expected
    return True


def _lacks_names(one: Slice) -> bool:
    return (
        not one.name
        or "unnamed" in one.name
        or any(odd in (one.args or "") for odd in ("unnamed", '"": ', "null"))
    )


def test_structured_mutants_agree_with_protobuf() -> None:
    """Fields taken out, doubled, swapped and cut, with the lengths around them made right again."""
    rng = random.Random(11)
    data = SAMPLE.read_bytes()
    agreed = sum(_same_as_protobuf(_mutated(data, rng, 0)) for _ in range(MUTANTS))
    assert agreed > MUTANTS // 3


def _mutated(message: bytes, rng: random.Random, depth: int) -> bytes:
    fields = list(_fields(message))
    if not fields:
        return message
    at = rng.randrange(len(fields))
    number, wire, payload = fields[at]
    if wire == 2 and depth < 4 and payload and rng.random() < 0.8:
        fields[at] = (number, wire, _mutated(payload, rng, depth + 1))
    else:
        match rng.randrange(6):
            case 0:
                del fields[at]
            case 1:
                fields.insert(at, fields[at])
            case 2:
                other = rng.randrange(len(fields))
                fields[at], fields[other] = fields[other], fields[at]
            case 3:
                fields[at] = (rng.randrange(1, 13), wire, payload)
            case 4 if wire == 2:
                fields[at] = (number, wire, payload[: rng.randrange(len(payload) + 1)])
            case 5 if wire == 0:
                fields[at] = (number, wire, _varint(rng.getrandbits(rng.choice((1, 7, 31, 64)))))
            case _:
                rng.shuffle(fields)
    return b"".join(_field(*field) for field in fields)


def _field(number: int, wire: int, payload: bytes) -> bytes:
    head = _varint(number << 3 | wire)
    return head + (_varint(len(payload)) if wire == 2 else b"") + payload


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _fields(message: bytes) -> list[tuple[int, int, bytes]]:
    """The fields of a message; nothing when it is none."""
    found, at = [], 0
    while at < len(message):
        try:
            tag, at = _read(message, at)
            size, start = {1: (8, at), 5: (4, at)}.get(tag & 7, (0, at))
            if tag & 7 == 0:
                size = _read(message, at)[1] - at
            elif tag & 7 == 2:
                size, start = _read(message, at)
            if (size == 0 and tag & 7 != 2) or start + size > len(message) or tag < 8:
                return []
        except IndexError:
            return []
        found.append((tag >> 3, tag & 7, message[start : start + size]))
        at = start + size
    return found


def _read(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def test_a_wrong_length_inside_a_line_leaves_the_others_whole() -> None:
    path = corpus.path("tfdata/interleave_sequential_gzip/plugins/profile/2026_11_20_08_38_58/vm.xplane.pb")
    data = path.read_bytes()
    space = reference.parse(data)
    whole = slices(decode(data))
    tracks = Counter(one.origin for one in whole.elements())
    for line in space.planes[0].lines:
        raw = line.SerializeToString(deterministic=True)
        at = data.index(raw)
        event = line.events[len(line.events) // 2].SerializeToString()
        place = data.index(event, at) - 1
        assert data[place] == len(event)
        mutant = bytearray(data)
        mutant[place] = 0x7F
        store = decode(bytes(mutant))
        found = slices(store)
        origin = f"plane 0 line {line.id}"
        others = Counter({one: number for one, number in found.items() if one.origin != origin})
        assert others == Counter({one: number for one, number in whole.items() if one.origin != origin})
        kept = sum(number for one, number in found.items() if one.origin == origin)
        # All before the damage, and nearly all behind it.
        assert kept >= tracks[origin] // 2
        assert kept >= tracks[origin] - 12
        assert store.facts["events_lost"] >= 0
        assert kept == tracks[origin] or complaints(store)


def test_a_wrong_length_of_a_line_leaves_the_next_ones_whole() -> None:
    path = corpus.path("tfdata/interleave_sequential_gzip/plugins/profile/2026_11_20_08_38_58/vm.xplane.pb")
    data = path.read_bytes()
    space = reference.parse(data)
    whole = slices(decode(data))
    lines = space.planes[0].lines
    for index, line in enumerate(lines[:-1]):
        raw = line.SerializeToString(deterministic=True)
        place = data.index(raw)
        for wrong in (b"\xff\xff\x7f", b"\x85\x80\x00"):
            mutant = bytearray(data)
            length = len(_varint(len(raw)))
            mutant[place - length : place] = wrong[:length] if length > 1 else b"\x7f"
            store = decode(bytes(mutant))
            assert complaints(store)
            found = slices(store)
            for later in lines[index + 1 :]:
                origin = f"plane 0 line {later.id}"
                kept = Counter({one: number for one, number in found.items() if one.origin == origin})
                assert kept == Counter({one: number for one, number in whole.items() if one.origin == origin})


@pytest.mark.repeats("reads recordings that do not ship")
def test_a_file_that_was_taken_for_text_is_refused_with_the_reason() -> None:
    path = corpus.path("accelerators/damaged/tpu_inference_2.xplane.pb")
    with pytest.raises(_core.CoreError) as caught:
        decode(path)
    assert caught.value.kind == "damaged"
    assert caught.value.offset == 0
    assert "conversion of text" in caught.value.seen


def test_the_whole_sample_is_sound() -> None:
    store = decode(SAMPLE)
    check(SAMPLE, store)
    assert not complaints(store)

"""Sessions of TensorFlow 1 that go on where closed ones ended."""

from types import SimpleNamespace

from stepscope.capture import tf1
from stepscope.capture.loops import NOWHERE, Site


class Session:
    """A session as far as the recorder asks it."""

    _closed = False

    def __init__(self) -> None:
        self.graph = SimpleNamespace(version=10)


def test_a_session_goes_on_where_a_closed_one_ended() -> None:
    sessions, first, second = tf1.Sessions(), Session(), Session()
    number = sessions.number(first, "[train]")
    assert sessions.number(first, "[train]") == number
    first._closed = True
    assert sessions.number(second, "[train]") == number
    assert sessions.number(second, "[loss]") != number


def test_a_session_that_is_gone_is_closed() -> None:
    sessions, first = tf1.Sessions(), Session()
    number = sessions.number(first, "[train]")
    del first
    assert sessions.number(Session(), "[train]") == number


def test_sessions_side_by_side_are_two() -> None:
    """And stay so when one is closed."""
    sessions, first, second = tf1.Sessions(), Session(), Session()
    numbers = [sessions.number(session, "[train]") for session in (first, second, first, second)]
    assert numbers[:2] == numbers[2:]
    assert numbers[0] != numbers[1]
    second._closed = True
    assert sessions.number(first, "[train]") == numbers[0]


def test_more_fetches_than_are_remembered_are_told_by_their_session() -> None:
    sessions, session = tf1.Sessions(), Session()
    for number in range(tf1.MOST_SIGNATURES):
        sessions.number(session, str(number))
    assert sessions.number(session, "another") == id(session)


def test_a_run_that_fetches_what_the_loop_made_is_the_step_that_it_runs_with() -> None:
    graphs, session = tf1.Graphs(), Session()

    def asked(*fetches: str, made: int = 0, site: Site = NOWHERE) -> str:
        session.graph.version += made
        told = graphs.asked(session, list(fetches), site)
        graphs.prepared(session, list(fetches), None)
        return told

    assert asked("train", "gradients") == "[train,gradients]"
    assert asked("train", "gradients_1", made=5) == "[train,gradients]"
    assert asked("train", "summary") == "[train,summary]"
    assert asked("assign_1", made=5) == "[assign_1]"
    assert asked("train", "gradients_2", made=5, site=Site(((1, 2),), ())) == "[train,gradients_2]"

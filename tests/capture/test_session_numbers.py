"""Sessions of TensorFlow 1 that go on where closed ones ended."""

from stepscope.capture import tf1


class Session:
    """A session as far as the recorder asks it."""

    _closed = False


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

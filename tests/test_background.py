"""Work that may be stopped from elsewhere."""

import contextlib
import threading

import pytest

from stepscope.background import Stopped, go_on, stoppable


def test_only_what_is_stoppable_stops() -> None:
    stop, other = threading.Event(), threading.Event()
    go_on()
    with stoppable(stop):
        go_on()
        with stoppable(other):
            stop.set()
            go_on()  # the innermost counts
        with pytest.raises(Stopped):
            go_on()
    go_on()


def test_a_thread_is_not_stopped_by_what_stops_another() -> None:
    stop = threading.Event()
    stop.set()
    raised: list[BaseException] = []

    def work() -> None:
        try:
            go_on()
        except Stopped as error:
            raised.append(error)

    with stoppable(stop):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert raised == []
        with pytest.raises(Stopped):
            go_on()


def test_no_handler_of_errors_goes_on_after_it() -> None:
    stop = threading.Event()
    stop.set()

    def tries() -> None:
        with contextlib.suppress(Exception):
            go_on()
        pytest.fail("it was taken for an error")

    with pytest.raises(Stopped), stoppable(stop):
        tries()

"""Texts on a screen that is too narrow for them."""

import pytest

from stepscope.presenters.cells import cells, cut_around_change, shorten_cells

BEFORE = "ds = tf.data.Dataset.list_files(pattern).flat_map(tf.data.TFRecordDataset).batch(32).map(parse)"
AFTER = BEFORE.replace("map(parse)", "map(parse, num_parallel_calls=tf.data.AUTOTUNE)")


@pytest.mark.parametrize("most", [8, 20, 40, 60])
def test_what_differs_is_shown(most):
    before, after = cut_around_change(BEFORE, AFTER, most)
    assert before != after
    assert max(cells(before), cells(after)) <= most
    assert before.startswith("…")
    assert after.startswith(before.split(")")[0][:-1])


def test_lines_that_fit_are_left_alone():
    assert cut_around_change(BEFORE, AFTER, 200) == (BEFORE, AFTER)


def test_the_calls_around_an_op_give_way_before_its_name():
    name = "StatefulPartitionedCall/sequential_1/dense_1/MatMul"
    assert shorten_cells(name, 30) == "…/sequential_1/dense_1/MatMul"
    assert shorten_cells(name, 60) == name


def test_the_number_of_a_process_stays_in_the_name_of_a_device():
    name = "/job:ps/replica:0/task:1/device:CPU:0"
    assert shorten_cells(name, 30) == "/job:ps/task:1/CPU:0"
    assert shorten_cells(name, 60) == name

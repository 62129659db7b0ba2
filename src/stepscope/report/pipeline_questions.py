"""The four questions of TensorFlow's guide to tf.data, in its order, each with its answer.

Sentences of one answer never deny each other: tests/contradictions.py has the pairs that cannot both be true.
"""

from collections.abc import Iterable
from typing import NamedTuple

from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.report import bottleneck_answer, cpu_answer, prefetch_answer, waiting_answer


class Question(NamedTuple):
    """A question and its answer."""

    name: str
    title: str
    answer: tuple[str, ...]


def questions(diagnosis: Diagnosis) -> list[Question]:
    """The questions that the recording answers."""
    waited = diagnosis.waits
    asked = [("fast_enough", "1. Is the pipeline fast enough?", waiting_answer.sentences(diagnosis))]
    if waited is not None and diagnosis.loads:
        held_up = bottleneck_answer.sentences(diagnosis, waited)
        asked += [
            ("prefetching", "2. Are you prefetching?", prefetch_answer.sentences(diagnosis, waited)),
            ("cpu", "3. Is the CPU used well?", cpu_answer.sentences(diagnosis, waited)),
            ("bottleneck", "4. Which stage holds the program up?", held_up),
        ]
    return [Question(name, title, tuple(answer)) for name, title, answer in asked]


def sentences(asked: Iterable[Question]) -> list[str]:
    """All answers, one after the other."""
    return [sentence for question in asked for sentence in question.answer]

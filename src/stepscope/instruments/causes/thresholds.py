"""The threshold that causes share."""

from dataclasses import dataclass

from stepscope.instruments.thresholds import tuned

STANDS_OUT = (
    "a label is what limits a step from this part of it on, even where compute takes more: it can be had "
    "without changing the model"
)


@dataclass(frozen=True, eq=False, repr=False)
class CauseThresholds:
    """From where on a label is a cause."""

    stands_out: float = tuned(
        0.25, STANDS_OUT, slack=(0.053, 0.285), by=("gpu/torch_svd.json.gz", "profile/kernels.rocprofv3.json")
    )

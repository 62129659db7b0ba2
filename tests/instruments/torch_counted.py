"""Runs ops of PyTorch in a process of its own: `python torch_counted.py FOLDER`.

For each program, NAME.json in FOLDER is what PyTorch's profiler recorded; stdout is a JSON object of what
PyTorch's own counter counts. Its counter imports Triton, which ends a process that has imported TensorFlow:
each brings an LLVM, and both register the same options.
"""

import json
import sys
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode


def gemms() -> None:
    a, b = torch.ones(30, 40), torch.ones(40, 50)
    torch.mm(a, b)
    torch.addmm(torch.ones(50), a, b)
    torch.bmm(torch.ones(3, 30, 40), torch.ones(3, 40, 50))
    torch.baddbmm(torch.ones(3, 30, 50), torch.ones(3, 30, 40), torch.ones(3, 40, 50))
    torch.nn.Linear(40, 20)(a)


def convolutions() -> None:
    data = torch.ones(2, 6, 17, 19)
    torch.nn.Conv2d(6, 8, 3, stride=2, padding=1)(data)
    torch.nn.Conv2d(6, 12, (3, 5), groups=3, dilation=2)(data)
    torch.nn.Conv1d(4, 8, 5, padding=2)(torch.ones(2, 4, 33))
    torch.nn.ConvTranspose2d(6, 8, 3, stride=2)(data)


def trained() -> None:
    data = torch.ones(2, 6, 17, 19, requires_grad=True)
    found = torch.nn.Conv2d(6, 8, 3, padding=1)(data)
    torch.nn.Linear(19, 7)(found).sum().backward()


def attention() -> None:
    query, key = torch.ones(2, 3, 16, 8), torch.ones(2, 3, 24, 8)
    torch.nn.functional.scaled_dot_product_attention(query, key, key)


def main(folder: Path) -> None:
    told = {}
    for run in (gemms, convolutions, trained, attention):
        run()  # what is made at the first call is no part of it
        with FlopCounterMode(display=False) as counted:
            run()
        told[run.__name__] = counted.get_total_flops()
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
            run()
        recorded.export_chrome_trace(str(folder / f"{run.__name__}.json"))
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

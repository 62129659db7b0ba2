"""Reads the stack of a thread that goes on as soon as a collection of garbage lets it: in Python 3.11, making
its frames begins one."""

import gc
import threading
import time

from stepscope.capture.frames import current_frames, walk

DEPTH, ROUNDS = 200, 40


def deep(depth):
    if depth:
        deep(depth - 1)
    else:
        at_bottom.set()
        goes_on.wait()


def callback(phase, info):
    goes_on.set()
    time.sleep(0.002)


for number in range(ROUNDS):
    at_bottom, goes_on = threading.Event(), threading.Event()
    gc.set_threshold(0)
    thread = threading.Thread(target=deep, args=(DEPTH,))
    thread.start()
    at_bottom.wait()
    gc.collect()
    frame = current_frames()[thread.ident]
    gc.callbacks.append(callback)
    gc.set_threshold(20 + number)
    found = walk(frame)
    gc.set_threshold(0)
    gc.callbacks.remove(callback)
    goes_on.set()
    thread.join()
    depths = sum(frame.f_code is deep.__code__ for frame in found)
    assert depths == DEPTH + 1, depths
    assert gc.isenabled()
    del found, frame
print("alive")

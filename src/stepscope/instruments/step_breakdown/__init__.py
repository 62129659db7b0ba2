"""Splits steps: each instant of a step has one label, and the labels add up to the step's duration.

* labels.py says what the slices of a thread, and frames of Python, stand for.
* driver.py finds the thread that drives the steps, and what it does at each instant.
* sweep.py decides between all that happens at once.
* evidence.py asks what is known of sources, bit by bit; part_tables.py makes the rows of `step_part` of it.

What executes on the device decides first; on a processor, ops on any thread but those of the input pipeline.
While the device does nothing, what the driving thread does decides: first its innermost slice that says
something, then the samples of its stack. Where there is no evidence, the time is idle on an accelerator and
unknown on a processor, which may have done things that nobody recorded.
"""

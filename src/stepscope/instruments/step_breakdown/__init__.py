"""Splits steps: each instant of a step has one label, and the labels add up to the step's duration.

What executes on the device decides first; on a processor, ops on any thread but those of the input pipeline.
While the device does nothing, what the driving thread does decides: first its innermost slice that says
something, then the samples of its stack. Where there is no evidence, the time is idle on an accelerator and
unknown on a processor, which may have done things that nobody recorded.
"""

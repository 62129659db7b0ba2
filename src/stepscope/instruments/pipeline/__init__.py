"""The tf.data pipeline from its calls: is the input the bottleneck, which stage, and what would help.

calls: whose call a slice is. stages: iterators of one place as one. waits: when the program waits. rates:
what each stage can deliver. model: how long a step takes. changes: what a change would gain. verdict: all
of it together.
"""

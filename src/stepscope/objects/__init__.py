"""The public Python API: a Trace, its results, and reports that a notebook displays.

* trace.py: `stepscope.open()` and the Trace it returns.
* result.py: rows of a query, for data frames and loops; arrow.py hands them to other libraries.
* widget.py: the page of `stepscope serve` as a widget; imported when one is asked for.
* report_views.py: the summary, the pipeline and memory as objects; answers.py: the answer and the findings.
"""

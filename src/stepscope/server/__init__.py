"""The local page: an HTTP server on this machine for one browser, and what keeps others out.

* run.py binds the port and runs the server; app.py has the table of routes; modules named *_routes.py have
  their endpoints.
* access.py decides who may ask, headers.py sets headers of every answer, assets.py holds the page.
* trace_workers.py runs traces in threads, activity.py reports their progress; catalog.py, details.py,
  timeline.py and reports.py ask them.
* console/ runs the SQL of the page in separate processes.

The server computes nothing: numbers come from SQL of the library, from the core, and from report/.
"""

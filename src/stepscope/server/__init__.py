"""The local page: an HTTP server on this machine for one browser, and what keeps others out.

* run.py binds the port and runs the server; app.py is the table of routes; the modules called *_routes.py
  have them.
* access.py decides who may ask, headers.py what every answer says to the browser, assets.py holds the page.
* trace_workers.py has traces in threads, activity.py says how far they are; catalog.py, details.py,
  timeline.py and reports.py ask them.
* console/ runs the SQL of the page in processes of their own.

The server computes nothing: numbers come from SQL of the library, from the core, and from report/.
"""

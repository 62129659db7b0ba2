"""Settings for the whole suite."""

from __future__ import annotations

import signal

# A shell starts what runs in its background with SIGINT ignored, and every child inherits that: the programs
# which the tests stop by Ctrl-C would never hear of it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

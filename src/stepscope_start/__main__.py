"""python -m stepscope_start: the command, from a folder that may hold a stepscope.py of its own."""

import sys

from stepscope_start import main

sys.exit(main())

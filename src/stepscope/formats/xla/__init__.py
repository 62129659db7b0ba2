"""Programs that XLA compiled, as found in dump folders, in XPlanes and in the logs of programs."""

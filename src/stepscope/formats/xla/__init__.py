"""Programs that XLA compiled: dump folders, what XPlanes keep, and what logs of programs say of them."""

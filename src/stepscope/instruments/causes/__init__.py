"""Causes that limit the steps of a host: one module each, and the loop that ranks them."""

"""Computations that SQL cannot express: functions that take tables and return tables."""

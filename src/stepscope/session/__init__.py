"""Turns sources into tables: when each is decoded, where it is stored, and which engine answers."""

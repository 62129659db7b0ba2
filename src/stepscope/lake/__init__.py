"""The tables: one schema, one writer, two encodings (the lake as Parquet, the cache as Arrow)."""

"""Sources in, tables out: what is decoded when, kept where, and asked through which engine."""

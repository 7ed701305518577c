"""Turn a config into tables: cells, their processes, and the store of their rows."""

"""From a config to tables: cells, their processes, and the store of their rows."""

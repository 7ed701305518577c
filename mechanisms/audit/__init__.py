"""An audit of anybody's mechanism by its outputs alone: a class, a function, or two files."""

"""An audit of anybody's sampler by its outputs alone: a function, a program, or files."""

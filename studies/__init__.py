"""The studies: one file for each, with its settings, its problem and its measurements."""

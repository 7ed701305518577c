"""Noise distributions, one file each: draws, exact moments of the squared norm, and a profile.

Mechanisms choose the scale of one of these distributions; nothing below them imports this package.
It may import `contract` (queries alone), `profiles`, `strategies` and `factorisations`.
"""

"""Noise distributions, one file each: draws, exact moments of the squared norm, and a profile.

Mechanisms choose the scale of one of these distributions. It may import `contract` (queries alone),
`profiles`, `strategies` and `factorisations`; none of these, nor `audit`, may import it, except the
base class of mechanisms in `contract`.
"""

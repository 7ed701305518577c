"""Noise distributions, one file each: draws, exact moments of the squared norm, and a profile.

Mechanisms choose the scale of one of these distributions. They, their base class in `contract`,
`comparison`, experiments and paper_figures may import this package. It may import `contract`
(queries alone), `profiles`, `strategies` and `factorisations`.
"""

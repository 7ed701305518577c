"""What to measure in a histogram: workloads, optimal strategies, trees and partitions.

Noise and mechanisms for histograms, `factorisations`, `comparison`, the studies of linear queries
and `paper_figures.suite` may import this package. It may import `profiles` and the options of
`contract`.
"""

"""What to measure in a histogram: workloads, optimal strategies, trees and partitions.

Noise and mechanisms for histograms import this package, and so do studies of linear queries. It may
import `profiles` and the options of `contract`.
"""

"""Factorisations A = B C of a stream's workload: which noise to add, and the error it leaves.

The noise and the mechanisms of streams, the studies of streams and paper_figures may import this
package. It may import `contract` and `strategies`.
"""

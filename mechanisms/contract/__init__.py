"""What a mechanism is given (query, budget, options) and what it offers in return.

Everything may import the queries and options here, which import nothing of the project; the base
class of mechanisms depends on `noise` and `profiles`, because a mechanism has both. The registry
finds the mechanisms without importing the package at load time.
"""

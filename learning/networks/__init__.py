"""Networks, one family per file; each is a pure function of one flat vector of parameters.

Functions import torch themselves, so that the size of a network is known without it.
"""

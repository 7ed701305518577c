"""The networks, one family a file, each a pure function of one flat vector of parameters.

Torch is imported on use, so that the size of a network is known without it.
"""

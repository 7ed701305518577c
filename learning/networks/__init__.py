"""The networks, one family a file, each a pure function of one flat vector of parameters.

May be imported by learning, studies and everything above them. May import learning.records;
torch is imported on use, so that the size of a network is known without it.
"""

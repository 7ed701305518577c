"""What the project's command lines share: how arguments are read and how a program ends.

Every `__main__` may import it. It imports the contract of mechanisms, for the words of a query.
"""

"""What the project's command lines share: how arguments are read and how a program ends.

Every `__main__` may import it. It imports no other package of the project.
"""

"""Mechanisms inside other libraries, which are imported by these modules only.

Nothing of the package imports this package: users do. It may import `contract` and `profiles`.
"""

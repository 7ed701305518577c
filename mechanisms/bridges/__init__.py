"""Mechanisms for use in other libraries, which only these modules import.

Nothing in the project imports this package: users do. It may import `contract` and `profiles`.
"""

"""Which mechanism for a query: all of them side by side, ranked at equal true privacy.

The command line and the package itself import this package. It uses mechanisms through their
contract only, and may import `contract`, `noise`, `profiles`, `strategies` and `audit`.
"""

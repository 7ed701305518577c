"""What a mechanism is given (query, budget, options) and what it offers in return.

Everything may import this package, but noise, profiles and other parts only its queries and
options, which import nothing from the project. The base class of mechanisms imports `noise` and
`profiles`, because a mechanism has both. The registry finds the mechanisms and imports them only
when asked.
"""

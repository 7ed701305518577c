"""Which mechanism for a query: all of them side by side, ranked at equal true privacy.

The top level of `mechanisms`, its command line, the studies, `paper_figures.suite` and
`site_builder` may import this package. It uses mechanisms through their contract only, and may
import `contract`, `noise`, `profiles`, `strategies` and `audit`.
"""

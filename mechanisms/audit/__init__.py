"""Audits: what samples prove about a claim, and the verdict on a mechanism's claim.

The top level of `mechanisms`, its command line, `comparison`, learning, experiments, paper_figures
and site_builder may import this package; no noise and no mechanism may. It may import `contract`
and `profiles`; its command may also import `command_line`.
"""

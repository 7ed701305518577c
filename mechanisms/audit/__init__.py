"""Audits: what samples prove about a claim, and the verdict on a mechanism's claim.

The command line and the studies import this package; no noise and no mechanism does. It may import
`contract` and `profiles`; its command may also import `command_line`.
"""

"""counting2023 (ICML 2023 and SODA 2023): what the square-root factorisation costs.

Fichtenberger, Henzinger and Upadhyay, arXiv:2202.11205; Henzinger, Upadhyay and Upadhyay,
arXiv:2211.05006.
"""

NAME = "Square-root factorisation"

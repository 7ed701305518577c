"""The settings of the five papers, in the order of their years. The study `guarantee` visits them.

Sensitivities are the papers', relative to the range of an element. Comments in the papers' modules
say what is open. Add a new paper to the tuple below if it has `SETTINGS`.
"""

from papers import imgm2022, mgm2021, mvg2018, r1smg2024, tldp2025

PAPER_SETTINGS = tuple(
    setting
    for paper in (mvg2018, mgm2021, imgm2022, r1smg2024, tldp2025)
    for setting in paper.SETTINGS
)

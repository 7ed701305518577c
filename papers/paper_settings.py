"""The settings of all papers, in the order of their years.

Sensitivities are the papers'; where a paper leaves a number open, `choice` says what is used here.
"""

from __future__ import annotations

from papers import imgm2022, mgm2021, mvg2018, r1smg2024, tldp2025

PAPER_SETTINGS = tuple(
    setting
    for paper in (mvg2018, mgm2021, imgm2022, r1smg2024, tldp2025)
    for setting in paper.SETTINGS
)

"""The settings of the five papers, in the order of their years: those that `guarantee` visits.

Sensitivities are the papers'; where a paper leaves a number open, `choice` says what is used here.
Another paper's settings count once its `numbers.SETTINGS` are in the list.
"""

from paper_figures.imgm2022 import numbers as imgm2022
from paper_figures.mgm2021 import numbers as mgm2021
from paper_figures.mvg2018 import numbers as mvg2018
from paper_figures.r1smg2024 import numbers as r1smg2024
from paper_figures.tldp2025 import numbers as tldp2025

PAPER_SETTINGS = tuple(
    setting
    for paper in (mvg2018, mgm2021, imgm2022, r1smg2024, tldp2025)
    for setting in paper.SETTINGS
)

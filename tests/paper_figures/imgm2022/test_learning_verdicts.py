"""The networks of imgm2022's learning studies."""

from pathlib import Path

import yaml

from learning.networks.cut_network import CUTS
from paper_figures.imgm2022.accuracies import CUT_NETWORKS, GRADIENT_NETWORKS
from studies.base.study import study_named


def test_every_network_for_official_data_has_a_title():
    official = {
        name for name, source in study_named("gradients").datasets.items() if source == "official"
    }
    assert set(GRADIENT_NETWORKS) == official
    config = yaml.safe_load(Path("config/paper.yaml").read_text())
    chosen = config["studies"]["features"]["networks"].values()
    assert set(chosen) <= set(CUT_NETWORKS) <= set(CUTS)
    widths = [cut.features for cut in CUTS.values()]
    assert len(widths) == len(set(widths)), "features tell the networks apart"

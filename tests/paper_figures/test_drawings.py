"""Every drawing from real rows of config/tiny.yaml: files, captions, byte stability, looks."""

import itertools
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest

from experiments.contract.study import all_experiments
from mechanisms import OutOfRangeWarning, Unsupported, all_mechanisms
from mechanisms.profiles.gaussian_profile import mu_for
from paper_figures.drawings import DrawingError, all_drawings, draw, drawings_for
from paper_figures.style import _LOOKS, in_order, look
from runs.cells import cells_of, data_source
from runs.config import read_config
from runs.rows import read_table, to_table, write_table

ROOT = Path(__file__).resolve().parents[2]
MECHANISMS = (
    "non-private", "gaussian", "gaussian-analytic", "mvg", "mgm", "r1smg", "idn", "laplace",
    "dawa", "matrix-mechanism-l1", "tldp-g", "imgm",
)  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Tables of every experiment for a few mechanisms, measured in this process."""
    config = read_config(ROOT / "config/tiny.yaml")
    folder = tmp_path_factory.mktemp("stored")
    tables = {name: ([], []) for name in config["experiments"]}
    for cell in cells_of(config):
        if cell.mechanism in MECHANISMS:
            rows, timings = tables[cell.experiment]
            for row, timing in _rows(cell, config):
                (timings if timing else rows).append(row)
    for name, (rows, timings) in tables.items():
        write_table(to_table(rows), folder / f"{name}.parquet")
        write_table(to_table(timings), folder / f"{name}.timings.parquet")
    return folder


def _rows(cell, config):
    experiment = all_experiments()[cell.experiment]
    names, variant = cell.names(config), cell.variant(config)
    settings = config["experiments"][cell.experiment]
    problem = experiment.load(settings, cell.dataset, Path("data"), names)
    for point in cell.points(config):
        fixed = {
            "paper": experiment.PAPER,
            "experiment": cell.experiment,
            "dataset": cell.dataset,
            "data_source": data_source(cell.experiment, cell.dataset),
            "mechanism": cell.mechanism,
            "calibration": cell.calibration,
            "shape": point.shape_name,
            "epsilon": point.epsilon,
            "delta": point.delta,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutOfRangeWarning)
            try:
                values = list(experiment.measure(problem, variant, cell.calibration, point, names))
            except Unsupported as reason:
                failed = {"metric": "", "value": None, "status": "unsupported"}
                yield fixed | failed | {"message": str(reason)}, False
                continue
        for value in values:
            measured = {
                "metric": value.metric,
                "value": float(value.value),
                "trial": value.trial,
                "element": value.element,
                "seed": value.seed,
                "status": "ok",
                "message": "",
            }
            yield fixed | measured, value.timing


def _files(drawing, stored):
    files = [stored / f"{name}.parquet" for name in drawing.experiments]
    files += [stored / f"{name}.timings.parquet" for name in drawing.timings]
    return [str(path) for path in files]


def of_tiny():
    """The drawings for which config/tiny.yaml has the data."""
    cells = cells_of(read_config(ROOT / "config/tiny.yaml"))
    names = {c.experiment for c in cells} | {f"{c.experiment}/{c.dataset}" for c in cells}
    return drawings_for(names)


def test_all_but_cifar_10_are_drawn_here():
    assert set(all_drawings()) - set(of_tiny()) == {"r1smg2024_fig8"}


@pytest.mark.parametrize("name", of_tiny())
def test_every_drawing_writes_its_files_and_twice_the_same_bytes(name, stored, tmp_path):
    drawing = all_drawings()[name]
    for folder in ("first", "second"):
        draw(name, _files(drawing, stored), tmp_path / folder)
    endings = {"figures": ("pdf", "png", "csv", "md"), "tables": ("csv", "md", "tex")}
    for ending in endings[drawing.kind]:
        first, second = (tmp_path / f / f"{name}.{ending}" for f in ("first", "second"))
        assert first.stat().st_size > 100
        assert first.read_bytes() == second.read_bytes(), ending
    assert len(pd.read_csv(tmp_path / "first" / f"{name}.csv")) > 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("r1smg2024_fig4", ["simulated data", "rescaled until", "epsilon 0.5", "r1smg: 1e-05"]),
        ("r1smg2024_fig5", ["simulated data", "8 trials", "replacing one pickup"]),
        ("r1smg2024_fig9", ["closed form", "delta 1e-10", "l2 sensitivity 1"]),
        ("mgm2021_table4", ["adjacency local", "epsilon 1"]),
        ("suite_headline", ["exact profiles", "(1, 1e-05)"]),
        (
            "r1smg2024_fig7",
            ["digits (data bundled", "200 training", "2 trials", "added or removed"],
        ),
        ("suite_canary", ["1x2410 parameters", "data bundled", "added or removed"]),
        ("suite_linear", ["simulated data", "added or removed", "4 trials", "delta 1e-06"]),
        ("suite_linear", ["claims pure epsilon-DP", "as published", "rescaled until"]),
        ("suite_linear_table", ["simulated data", "added or removed", "4 trials", "standard"]),
        (
            "tldp2025_fig1",
            [
                "data bundled",
                "300 training images",
                "2 trials",
                "Adjacency local",
                "rescaled until",
            ],
        ),
        ("tldp2025_table5", ["noise as published", "Delta = 1", "Adjacency local"]),
        (
            "tldp2025_fig2",
            ["data bundled", "150 public records", "150 other records released as 32 features"],
        ),
        (
            "tldp2025_fig3",
            [
                "236 records, a model of 2,410 parameters, 2 rounds",
                "epsilon is that of one release",
                "digits (epsilon 100) TLDP-G 4",
                "Adjacency local",
            ],
        ),
    ],
)
def test_captions_say_source_calibration_trials_and_adjacency(name, words, stored, tmp_path):
    draw(name, _files(all_drawings()[name], stored), tmp_path)
    caption = (tmp_path / f"{name}.md").read_text()
    for word in words:
        assert word in caption


def test_figure_8_is_figure_7_on_cifar_10(stored, tmp_path):
    table = read_table(stored / "dpsgd.parquet")
    column = table.schema.get_field_index("dataset")
    renamed = table.set_column(column, "dataset", [["cifar10"] * len(table)])
    write_table(renamed, tmp_path / "dpsgd.parquet")
    draw("r1smg2024_fig8", [str(tmp_path / "dpsgd.parquet")], tmp_path)
    assert "Figure 8 on cifar10" in (tmp_path / "r1smg2024_fig8.md").read_text()
    with pytest.raises(DrawingError, match="Figure 7 needs dpsgd on mnist or digits"):
        draw("r1smg2024_fig7", [str(tmp_path / "dpsgd.parquet")], tmp_path)


def test_what_could_not_be_measured_is_said(stored, tmp_path):
    draw("r1smg2024_fig4", _files(all_drawings()["r1smg2024_fig4"], stored), tmp_path)
    assert "idn (published): unsupported" in (tmp_path / "r1smg2024_fig4.md").read_text()


def test_linear_queries_are_drawn_over_the_gaussian_s_error(stored, tmp_path):
    draw("suite_linear", _files(all_drawings()["suite_linear"], stored), tmp_path)
    drawn = pd.read_csv(tmp_path / "suite_linear.csv")
    assert set(drawn["workload"]) == {"prefix", "all-range", "random"}
    assert set(drawn[drawn["mechanism"] == "gaussian-analytic"]["ratio"]) == {1.0}
    # Laplace noise's errors are in closed form: its variance over sigma^2 at (1, 1e-6).
    sigma = 1 / mu_for(1, 1e-6)
    laplace = drawn[drawn["mechanism"] == "laplace"]["ratio"]
    assert laplace.to_numpy() == pytest.approx(np.full(6, 2 / sigma**2), rel=1e-9)
    dawa = drawn[drawn["mechanism"] == "dawa"]
    assert dawa["expected"].isna().all()
    assert dawa["measured"].gt(0).all()
    draw("suite_linear_table", _files(all_drawings()["suite_linear_table"], stored), tmp_path)
    table = pd.read_csv(tmp_path / "suite_linear_table.csv")
    claims = table.groupby("mechanism")["claims"].unique().explode()
    assert claims["dawa"] == claims["laplace"] == claims["matrix-mechanism-l1"] == "pure"
    assert claims["gaussian-analytic"] == claims["r1smg"] == "approximate"


def test_linear_queries_without_the_gaussian_are_not_drawn(stored, tmp_path):
    table = read_table(stored / "linear_queries.parquet")
    rest = table.filter(pc.not_equal(table["mechanism"], "gaussian-analytic"))
    write_table(rest, tmp_path / "linear_queries.parquet")
    with pytest.raises(DrawingError, match="add it to the config"):
        draw("suite_linear", [str(tmp_path / "linear_queries.parquet")], tmp_path)


def test_table_1_finds_the_analytic_loss_below_its_stated_bound(stored, tmp_path):
    draw("r1smg2024_table1", _files(all_drawings()["r1smg2024_table1"], stored), tmp_path)
    table = pd.read_csv(tmp_path / "r1smg2024_table1.csv")
    holds = table[table["calibration"] == "published"].groupby("mechanism")["bound holds"].unique()
    assert set(holds["gaussian-analytic"]) == {"no"}
    assert set(holds["gaussian"]) == {"yes"}
    assert set(holds["r1smg"]) == {"yes"}


def test_stated_errors_beside_measured_ones(stored, tmp_path):
    draw("tldp2025_table5", _files(all_drawings()["tldp2025_table5"], stored), tmp_path)
    table = pd.read_csv(tmp_path / "tldp2025_table5.csv").set_index("mechanism")
    # 64 pixels, epsilon 1: Laplace 64 sqrt(128), and 600 images measure it within 1%.
    assert table.loc["laplace", "stated error"] == pytest.approx(64 * 128**0.5)
    assert table.loc["laplace", "stated / measured"] == pytest.approx(1, rel=0.01)
    # sigma^2 = 1 / (2 epsilon): sqrt(64 / 2), stated as 8 / 2.
    assert table.loc["tldp-g", "stated error"] == pytest.approx(4, rel=1e-6)
    assert table.loc["tldp-g", "closed form"] == pytest.approx(32**0.5, rel=1e-6)


def test_results_without_the_experiment_are_told(tmp_path):
    write_table(to_table([]), tmp_path / "count_query.parquet")
    with pytest.raises(DrawingError, match="run it first"):
        draw("r1smg2024_fig4", [str(tmp_path / "count_query.parquet")], tmp_path)


def test_every_mechanism_has_a_look_of_its_own():
    assert set(all_mechanisms()) <= set(_LOOKS)
    looks = [(look(m).colour, look(m).marker) for m in all_mechanisms()]
    assert len(set(looks)) == len(looks)
    colours = [look(m).colour for m in all_mechanisms()]
    assert len(set(colours)) == len(colours)


def test_looks_of_others_depend_on_their_name_only():
    assert look("somebody-elses") == look("somebody-elses")
    for order in itertools.permutations(["zeta-noise", "mvg", "r1smg"]):
        assert in_order(order) == ["r1smg", "mvg", "zeta-noise"]

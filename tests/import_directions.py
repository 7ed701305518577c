"""Which package may import which: the table that test_tree.py holds every import against."""

# Rooms, and modules that have directions of their own. An entry speaks for everything below it
# that has no entry itself. "name" stands for that entry alone, "name.*" for all that lies below
# it too. Every entry may import itself.
MAY_IMPORT = {
    # What a mechanism is given, and the mathematics of privacy, know nothing of each other.
    "mechanisms.contract": (),
    "mechanisms.profiles": (),
    "mechanisms.strategies": ("mechanisms.contract", "mechanisms.profiles"),
    "mechanisms.factorisations": ("mechanisms.contract", "mechanisms.strategies"),
    "mechanisms.noise": (
        "mechanisms.contract",
        "mechanisms.profiles",
        "mechanisms.strategies",
        "mechanisms.factorisations",
    ),
    "mechanisms.accounting": ("mechanisms.contract", "mechanisms.profiles"),
    # A mechanism has noise and a profile: its base class stands above both.
    "mechanisms.contract.exact_calibration": ("mechanisms.contract", "mechanisms.profiles"),
    "mechanisms.contract.mechanism": (
        "mechanisms.contract",
        "mechanisms.contract.exact_calibration",
        "mechanisms.noise",
        "mechanisms.profiles",
    ),
    "mechanisms.contract.public_information": (
        "mechanisms.contract",
        "mechanisms.contract.mechanism",
    ),
    "mechanisms.contract.registry": ("mechanisms.contract", "mechanisms.contract.mechanism"),
    "mechanisms.audit": (
        "mechanisms.contract",
        "mechanisms.contract.mechanism",
        "mechanisms.profiles",
    ),
    "mechanisms.audit.audit_command": (
        "mechanisms.audit",
        "mechanisms.command_line",
    ),
    "mechanisms.comparison": (
        "mechanisms.contract",
        "mechanisms.contract.mechanism",
        "mechanisms.contract.public_information",
        "mechanisms.contract.registry",
        "mechanisms.noise",
        "mechanisms.profiles",
        "mechanisms.strategies",
        "mechanisms.audit",
    ),
    "mechanisms.bridges": (
        "mechanisms.contract",
        "mechanisms.contract.mechanism",
        "mechanisms.profiles",
    ),
    "mechanisms.command_line": (
        "mechanisms.contract",
        "mechanisms.contract.mechanism",
        "mechanisms.contract.registry",
    ),
    "mechanisms": ("mechanisms.*",),
    "datasets.fetching.data_error": (),
    "datasets.entry": ("datasets.fetching.data_error",),
    "datasets.formats": ("datasets.fetching.data_error",),
    "datasets.fetching": ("datasets.entry", "datasets.fetching.data_error"),
    "datasets.loaders": (
        "datasets.entry",
        "datasets.fetching",
        "datasets.fetching.data_error",
        "datasets.formats",
    ),
    "datasets.catalogue": (
        "datasets.entry",
        "datasets.fetching.data_error",
        "datasets.loaders",
    ),
    # It finds a data set by its name.
    "datasets.fetching.fetch": (
        "datasets.catalogue",
        "datasets.entry",
        "datasets.fetching",
        "datasets.fetching.data_error",
    ),
    "datasets": ("mechanisms.command_line", "datasets.*"),
    "papers": ("mechanisms.*",),
    "experiments.contract": ("mechanisms.*", "papers"),
    "learning.records": ("datasets",),
    "learning.networks": ("learning.records",),
    "learning.releases": ("mechanisms.*", "experiments.contract"),
    "learning.training": (
        "mechanisms.*",
        "experiments.contract",
        "learning.networks",
        "learning.records",
        "learning.releases",
    ),
    "learning.federated": (
        "mechanisms.*",
        "papers",
        "experiments.contract",
        "learning.networks",
        "learning.records",
        "learning.releases",
        "learning.training",
    ),
    "learning": ("mechanisms.*", "datasets", "papers", "experiments.contract"),
    "experiments": ("mechanisms.*", "datasets.*", "papers", "learning.*", "experiments.contract"),
    "runs": ("mechanisms.*", "datasets", "experiments.contract"),
    "paper_figures": (
        "mechanisms.*",
        "datasets",
        "papers",
        "experiments",
        "experiments.contract",
        "runs",
    ),
    "paper_figures.suite": (
        "mechanisms.*",
        "papers",
        "experiments",
        "experiments.contract",
        "runs",
        "paper_figures",
    ),
    # Above all: what it shows, the other packages have computed.
    "site_builder": (
        "mechanisms.*",
        "datasets",
        "papers",
        "experiments",
        "experiments.contract",
        "runs",
        "paper_figures",
        "paper_figures.suite",
    ),
}
# What a paper's package may import besides `mechanisms` and the top of `paper_figures`. Those that
# are not listed may import what that top may.
PAPERS_MAY_IMPORT = {
    "bandmf2023": ("papers",),
    "bifr2026": ("papers",),
    "bisr2025": ("papers", "paper_figures.suite"),
    "counting2023": ("papers",),
    "gaussmix2025": ("experiments",),
    "imgm2022": ("papers", "experiments", "paper_figures.suite"),
    "inid2025": ("experiments", "paper_figures.suite"),
    "integers2021": ("experiments", "paper_figures.suite"),
    "lap2026": ("papers",),
    "mgm2021": ("papers", "experiments", "runs"),
    "mvg2018": ("papers", "experiments", "experiments.contract", "runs"),
    "nsr2025": ("papers", "paper_figures.suite"),
    "plrvo2025": ("papers",),
    "privunit2022": ("papers",),
    "r1smg2024": ("papers", "experiments"),
    "spherical2026": ("papers", "runs"),
    "tldp2025": ("papers", "runs"),
    "tvg2021": ("papers",),
}
MAY_IMPORT |= {
    f"paper_figures.{paper}": ("mechanisms.*", "paper_figures", *more)
    for paper, more in PAPERS_MAY_IMPORT.items()
}
MAY_IMPORT |= {
    f"paper_figures.{paper}": ()
    for paper in ("bsr2024", "correlated2024", "elliptic2023", "product2026")
}

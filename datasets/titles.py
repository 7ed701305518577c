"""Names of the data sets in figures, tables and pages."""

from datasets.catalogue import DATASETS

# Short names of data sets, and of the columns and grids taken from them.
_TITLES = {
    "adult": "Adult",
    "adult-age": "Adult age",
    "adult-capital-loss": "Adult capital loss",
    "adult-hours": "Adult hours per week",
    "boids": "Boids",
    "breast_cancer": "Breast Cancer",
    "cardiotocography": "Cardiotocography",
    "cifar10": "CIFAR-10",
    "city": "simulated city",
    "city-grid": "simulated city map",
    "city-longitude": "simulated city longitude",
    "cora": "Cora",
    "darknet2020": "Darknet2020",
    "digits": "Digits",
    "imdb": "IMDB",
    "liver_disorders": "Liver Disorders",
    "location30": "Location-30",
    "mnist": "MNIST",
    "movement_aal": "Movement AAL",
    "purchase100": "Purchase-100",
    "reviews": "simulated reviews",
    "svhn": "SVHN",
    "swarm": "Swarm Behaviour",
    "texas100": "Texas-100",
    "uber": "Uber pickups",
    "uber-grid": "Uber map",
}


def dataset_title(name: str) -> str:
    """Return the short name of a data set, or else its title in the catalogue, or else its key."""
    if name in _TITLES:
        return _TITLES[name]
    return DATASETS[name].title if name in DATASETS else name

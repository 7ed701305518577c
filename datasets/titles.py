"""Names of the data sets in figures, tables and pages."""

from datasets.catalogue import DATASETS

# Names of the data sets as people write them; the others have their title in the catalogue.
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
    "diabetes": "Diabetes",
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
    "wine": "Wine",
}


def dataset_title(name: str) -> str:
    """The name of a data set as people write it: "CIFAR-10" for cifar10.

    A data set without one has its title in the catalogue, or else its key.
    """
    if name in _TITLES:
        return _TITLES[name]
    return DATASETS[name].title if name in DATASETS else name

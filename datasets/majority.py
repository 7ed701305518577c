"""The accuracy of always predicting the most frequent class, by data set: the best blind guess.

It is counted on the official test records, or on all records of Location-30, which has no official
split. The class is an income of at most 50,000 dollars in Adult and the digit 1 in MNIST and SVHN.
All classes of CIFAR-10 are equally frequent, and so are those of IMDB.
"""

MAJORITY = {
    "adult": 12_435 / 16_281,
    "cifar10": 1_000 / 10_000,
    "cora": 319 / 1_000,
    "imdb": 12_500 / 25_000,
    "location30": 308 / 5_010,
    "mnist": 1_135 / 10_000,
    "svhn": 5_099 / 26_032,
}

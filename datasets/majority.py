"""The accuracy of always naming the commonest class, by data set: the best a blind guess can do.

It is counted on the official test records. The commonest class is an income of at most 50,000
dollars, the digit 1, the commonest topic of Cora's 1,000 test papers, and any class where all are
equally frequent. Location-30 has no official split, so all its records count.
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

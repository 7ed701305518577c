"""The families of queries that the leaderboard ranks, and which rows of which study they show."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """One way to score the mechanisms of a study.

    Args:
        metrics: Metrics of the study in order of preference: the first that a mechanism has at a
            point is shown. A closed form goes before the mean over trials that it predicts.
        title: Its name for readers, with the unit in brackets.
        better: "smaller" or "larger".
        largest: The largest value that it can have; the least is 0.
    """

    metrics: tuple[str, ...]
    title: str
    better: str = "smaller"
    largest: float = math.inf


@dataclass(frozen=True)
class RankedStudy:
    """A study in a family.

    Args:
        study: The study.
        measures: What it is scored by, the main one first.
        query: What is asked of the data, and what neighbouring data sets differ in.
        choices: Columns that the reader chooses a value of, with their titles.
        uses: Columns that tell several uses of one mechanism apart.
    """

    study: str
    measures: tuple[Measure, ...]
    query: str
    choices: tuple[tuple[str, str], ...] = ()
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """A family of queries: one page of the leaderboard."""

    key: str
    title: str
    about: str
    studies: tuple[RankedStudy, ...]


_TEST_ACCURACY = Measure(("final_test_accuracy",), "test accuracy", "larger", 1.0)
_F1 = Measure(("f1",), "weighted F1 score", "larger", 1.0)
_ACCURACY = Measure(("accuracy",), "accuracy", "larger", 1.0)

FAMILIES = (
    Family(
        "counts",
        "Count queries",
        "A map of counts: how many pickups fall into every cell of a grid.",
        (
            RankedStudy(
                "count_query",
                (
                    Measure(("rmse_valid_cell",), "root mean squared error per cell (pickups)"),
                    Measure(("rectangle_rmse",), "root mean squared error per rectangle (pickups)"),
                    Measure(("expected_loss", "loss"), "squared norm of the noise (pickups²)"),
                ),
                "Counts on an 89 by 89 map. One pickup is replaced by another, which changes two "
                "cells by one: l2 sensitivity √2, l1 sensitivity 2.",
            ),
        ),
    ),
    Family(
        "ranges",
        "Prefix and range queries",
        "Many sums over one histogram. Noise can be made for such a workload.",
        (
            RankedStudy(
                "linear_queries",
                (Measure(("expected_mse", "mse"), "mean squared error per query (records²)"),),
                "Linear queries on a histogram. One record is added or removed, which changes one "
                "cell by one: l1 and l2 sensitivity 1. On a map, ranges are rectangles.",
                choices=(("workload", "Workload"),),
            ),
        ),
    ),
    Family(
        "components",
        "Principal components",
        "Directions of most variance, from a private covariance or from private records.",
        (
            RankedStudy(
                "pca",
                (
                    Measure(
                        ("accuracy",), "accuracy of a linear SVM on 20 components", "larger", 1.0
                    ),
                    Measure(("leading_deviation",), "variance that the first 20 components lose"),
                    Measure(("total_deviation",), "total deviation of all components"),
                ),
                "The covariance of records in [-1, 1], one of which is replaced.",
            ),
            RankedStudy(
                "first_component",
                (Measure(("error",), "variance that the first component misses"),),
                "The covariance of records in [-1, 1], one of which is replaced.",
                uses=("treatment", "share"),
            ),
            RankedStudy(
                "covariance",
                (Measure(("rss",), "residual sum of squares of the eigenvalues"),),
                "The records themselves, scaled into [-1, 1]; one of them is replaced.",
                uses=("treatment", "share"),
            ),
        ),
    ),
    Family(
        "regression",
        "Regression",
        "Kernel ridge regression that is fitted to privately released records.",
        (
            RankedStudy(
                "regression",
                (Measure(("rmse",), "root mean squared error on test records"),),
                "The records themselves, scaled into [-1, 1]; one of them is replaced.",
                choices=(("kernel", "Kernel"), ("scaling", "Scaling")),
                uses=("treatment", "share"),
            ),
        ),
    ),
    Family(
        "gradients",
        "Gradients",
        "Training with noisy gradients. The budget is that of the whole training.",
        (
            RankedStudy(
                "dpsgd",
                (_TEST_ACCURACY,),
                "The sum of clipped gradients of a Poisson sample; one record is added or removed.",
                choices=(("learning_rate", "Learning rate"),),
            ),
            RankedStudy(
                "gradients",
                (_TEST_ACCURACY,),
                "The sum of clipped gradients of a Poisson sample; one record is added or removed.",
            ),
            RankedStudy(
                "federated_horizontal",
                (_TEST_ACCURACY,),
                "The update that a participant uploads, clipped to a box; all records of a "
                "participant may change.",
            ),
        ),
    ),
    Family(
        "images",
        "Images",
        "Classifiers that learn from released images and are tested on clean ones.",
        (
            RankedStudy(
                "private_data",
                (_F1, _ACCURACY),
                "One image at a time, pixels in [0, 1]. Local privacy: any image may become any "
                "other.",
            ),
        ),
    ),
    Family(
        "features",
        "Features of batches",
        "The features that a network computes, released for a batch of records at a time.",
        (
            RankedStudy(
                "features",
                (Measure(("test_accuracy",), "test accuracy", "larger", 1.0),),
                "The features of one batch, each in [-1, 1]; one record is replaced.",
            ),
            RankedStudy(
                "federated_vertical",
                (_TEST_ACCURACY,),
                "The features of one batch, by two participants in all iterations.",
            ),
        ),
    ),
    Family(
        "local",
        "Local releases of features and parameters",
        "Every user protects a vector of their own before it leaves them.",
        (
            RankedStudy(
                "private_features",
                (_F1, _ACCURACY),
                "One feature vector at a time, features in [-1, 1]. Local privacy: any vector may "
                "become any other.",
            ),
            RankedStudy(
                "private_parameters",
                (_F1, _ACCURACY),
                "All parameters of a user's model, each in [-1, 1], in every round. Local privacy: "
                "they may become any others.",
                choices=(("range", "Range of a parameter"),),
            ),
        ),
    ),
)

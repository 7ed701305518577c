"""Features of private records, computed by a network that was trained on public records.

imgm2022 does not say which data the feature extractor is trained on; tldp2025 names ImageNet
(pretrained.py). Weights trained on the private records would leak information about them. Here, a
share of the training records is declared public. The whole network is trained on the public records
without privacy, and these records are used for nothing else. All mechanisms share the public
records and the extractor.
"""

from dataclasses import dataclass, replace

import numpy as np

from learning.networks.cut_network import Cut
from learning.records.labelled import Split
from learning.training.classifiers import Training, fitted, outputs


@dataclass(frozen=True, kw_only=True)
class Extracted:
    """Features of records that the extractor was not trained on.

    Args:
        split: The private training records and the test records, each with its label. The inputs
            are features in (-1, 1), float32 (n, ...).
        public: Number of public records that the extractor was trained on; 0 for ImageNet's.
        test_accuracy: Test accuracy in [0, 1] of the extractor with the head that was trained
            together with it; None if there is no such head.
    """

    split: Split
    public: int
    test_accuracy: float | None


def extract(cut: Cut, data: Split, share: float, training: Training, seed: int) -> Extracted:
    """Train on public training records; compute features of the private ones and the test records.

    Args:
        cut: The network; its body is the extractor.
        data: All training records, and the test records.
        share: Share of the training records that is public, in (0, 1), drawn at random.
        training: Settings of the training of the whole network on the public records.
        seed: Determines which records are public, the initial parameters and the batches.

    Raises:
        ValueError: The share leaves no public record or no private one.
        ArithmeticError: An output of the trained network is not finite.
    """
    records = len(data.train_labels)
    count = round(share * records)
    if not 0 < count < records:
        raise ValueError(
            f"a public share of {share:g} makes {count} of {records} records public; choose a "
            "share that leaves at least one public and one private record"
        )
    order = np.random.default_rng([seed, 0]).permutation(records)
    public, private = np.sort(order[:count]), np.sort(order[count:])
    known = replace(
        data, train_inputs=data.train_inputs[public], train_labels=data.train_labels[public]
    )
    parameters = fitted(known, cut.whole, training, seed)
    own = parameters[: cut.body.size]
    guessed = outputs(cut.whole, parameters, data.test_inputs).argmax(axis=1)
    split = replace(
        data,
        train_inputs=outputs(cut.body, own, data.train_inputs[private]),
        train_labels=data.train_labels[private],
        test_inputs=outputs(cut.body, own, data.test_inputs),
    )
    accuracy = float(np.mean(guessed == data.test_labels))
    return Extracted(split=split, public=count, test_accuracy=accuracy)

"""Vertical federated learning with noisy features, mgm2021 Section 8, Type II (Figure 3).

Two participants hold half of the attributes each. In every iteration both release the features
that their local models compute for one batch, and the server trains its top model on them. At the
published calibration, the (epsilon, delta) of a point is the budget of every single release,
amplified by sampling, because Section 8.2 adopts composition "in Type I". The exact calibration and
the reported true budget refer to the whole training: the releases of both participants in all
iterations. learning/federated/upload_budgets.py derives the budget of one use and the privacy truly
spent.

The query is a batch's features, batch x features. This is our reading of the feature shapes in
Table 3 (100 x 64, 100 x 128, 30 x 64; and 2 x 10 for Adult, which makes a batch two records).
Adjacency: one record is replaced in both halves. With a batch of m out of N records, the record is
in the sample with probability q = m / N, from which Theorem 6 derives the amplification. In truth
nothing is amplified: local models keep learning from the records themselves, without noise, so that
after its first batch a record may change every feature of every later batch. The paper's
sensitivity 2 sqrt(mn), for all n features of m records, covers that. Composing all releases at this
sensitivity bounds the privacy truly spent, whatever the local models are. Only in its first batch
does a record change one row alone, by 2 sqrt(n).

Test features carry no noise: the paper protects training features. The server owns the labels, and
its replies are assumed to reveal nothing. All mechanisms share the split, the initial weights and
the batches.
"""

from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field

from learning.federated.upload_budgets import calibrated_uploads
from learning.networks.split_network import SPLIT_NETWORKS
from learning.records import labelled
from learning.records.labelled import Split
from mechanisms.privacy.sampling import kairouz
from mechanisms.query.box_query import box_query
from studies.base import ByDataset, Case, Count, Point, Value
from studies.base.families import FEATURES
from studies.federated import FederatedSettings, FederatedStudy, run_values, training_values

PARTICIPANTS = 2


class VerticalSettings(FederatedSettings):
    """Settings of this study."""

    iterations: ByDataset[Count] = Field(description="batches of a round, each released")


class FederatedVertical(FederatedStudy):
    """The study of this module."""

    name = "federated_vertical"
    datasets = {name: labelled.SOURCES[name] for name in SPLIT_NETWORKS}
    Settings = VerticalSettings
    slow_imports = (*FederatedStudy.slow_imports, "learning.federated.vertical")
    family = FEATURES
    query = "The features of one batch, by two participants in all iterations."

    def points(self, settings: VerticalSettings, variant: str, dataset: str) -> list[Point]:
        """Return one point per total budget, at the shape batch x features."""
        shape = settings.batch[dataset], SPLIT_NETWORKS[dataset].features
        return settings.points_at(shape, variant, dataset)

    def measure(self, problem: Split, case: Case, point: Point) -> Iterator[Value]:
        """Yield claimed and true budgets, and the test accuracy after every round (`round`)."""
        # Torch is slow to load, and reading a config imports this module.
        from learning.federated.vertical import VerticalPlan, train

        settings, dataset, total = case.settings, case.dataset, point.budget
        plan = VerticalPlan(
            rounds=settings.rounds[dataset],
            iterations=settings.iterations[dataset],
            batch=settings.batch[dataset],
            learning_rate=settings.learning_rate[dataset],
            device=settings.device,
        )
        records, releases = len(problem.train_labels), plan.rounds * plan.iterations
        rate = plan.batch / records
        use = replace(total, epsilon=kairouz.before_sampling(total.epsilon, rate))
        queries = [box_query(point.shape, -1.0, 1.0, adjacency="replace")] * PARTICIPANTS
        mechanisms = calibrated_uploads(
            case.published, queries, use, releases, total, case.calibration
        )
        yield Value("sampling_rate", rate)
        yield from run_values(mechanisms, use, releases, total, records, fresh=False)
        run = (SPLIT_NETWORKS[dataset], problem, plan, mechanisms[0].release_all, case, point)
        yield from training_values(train, *run, stacks=True)

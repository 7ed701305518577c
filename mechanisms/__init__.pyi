# What type checkers and editors see of the names that `__init__.py` imports on first use.
from mechanisms.base.mechanism import AdditiveMechanism as AdditiveMechanism
from mechanisms.base.mechanism import Mechanism as Mechanism
from mechanisms.base.registry import UnknownMechanism as UnknownMechanism
from mechanisms.base.registry import all_mechanisms as all_mechanisms
from mechanisms.base.registry import get_mechanism as get_mechanism
from mechanisms.comparison.advisor import compare as compare
from mechanisms.comparison.no_data import distance_to_no_data as distance_to_no_data
from mechanisms.query.query import Budget as Budget
from mechanisms.query.query import Inconsistent as Inconsistent
from mechanisms.query.query import OutOfRangeWarning as OutOfRangeWarning
from mechanisms.query.query import Query as Query
from mechanisms.query.query import RefutedWarning as RefutedWarning
from mechanisms.query.query import Unsupported as Unsupported
from mechanisms.verification.verification import verify as verify

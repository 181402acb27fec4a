"""What kernel regression and kernel classification share: local fits of targets near a row."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.base import BaseEstimator, clone

from empirisk.learners.density.bandwidth_matrix import Bandwidth, checked_bandwidth, numbers_of
from empirisk.learners.density.bandwidth_of_rule import bandwidth_grid
from empirisk.learners.density.bandwidth_rules import scott, silverman
from empirisk.learners.density.kept_rows import KeptRowsMixin
from empirisk.learners.density.kernel_soundness import check_rows_of
from empirisk.learners.density.kernels import Kernel, kernel_of
from empirisk.learners.neighbors.kernel_fits import LocalFits, PlacedRows, fits_of, weights_of
from empirisk.learners.neighbors.kernel_spreads import spreads_of, training_spreads
from empirisk.learners.neighbors.left_out_bandwidth import left_out_bandwidth
from empirisk.learners.soundness import has_state
from empirisk.risk.axis import (
    Axis,
    Block,
    CannotSubtractError,
    HeldOut,
    Output,
    Path,
    PathMixin,
    refuse_no_partition,
)
from empirisk.risk.plans.plan import Plan
from empirisk.runtime.arrays import Array, Floats, Ints
from empirisk.runtime.errors import ParameterError
from empirisk.runtime.parallel import slices
from empirisk.runtime.validation import check_predict

RULES = ("scott", "silverman", "loo")
ROWS_AT_ONCE = 256  # held out, so that threads have something to share
DENSE = 2**21  # weights in one block


class KernelSmoother(KeptRowsMixin, PathMixin, BaseEstimator):
    """Local fits: averages of y about each x, of numbers or of the indicators of classes."""

    axis: ClassVar[Axis | None] = Axis(("bandwidth",), larger="simpler", scale="log")
    feature_scaling: ClassVar[Literal["each", "common"] | None] = "each"

    bandwidth: Any
    kernel: str
    scale: str | None
    n_jobs: int | None
    rows_: Floats
    weights_: Floats
    y_train_: Array
    bandwidth_: float | Floats

    def conditional_weights(self, X: Any) -> csr_array:
        """How much each training row counts at each row of X: (rows, training rows), summing to 1.

        With `y_train_` they are the estimated conditional distribution of y: of local means, also
        where a local line is fitted.
        """
        targets = self._placing(check_predict(self, X))
        size = max(1, DENSE // len(self.rows_))
        blocks = [
            csr_array(weights_of(self._kernel, self._placed, targets[part]))
            for part in slices(len(targets), size)
        ]
        return vstack(blocks, format="csr")

    def axis_values(
        self, X: Floats, y: Any, sample_weight: Floats, *, n_train: int
    ) -> Sequence[float]:
        """50 bandwidths in equal ratios, from a twentieth of Scott's to twice the spread of the
        rows; of a kernel of bounded support as far as all rows reach."""
        scaled = X / spreads_of(X, sample_weight) if self.scale == "columns" else X
        return bandwidth_grid(kernel_of(self.kernel), scaled, sample_weight, n_train)

    def fit_path(
        self, X: Floats, y: Array, sample_weight: Floats, values: Sequence[Any], *, n_classes: int
    ) -> "KernelSmootherPath":
        """All bandwidths, of the same rows."""
        return KernelSmootherPath(self, X, y, sample_weight, values, n_classes)

    def out_of_fold(
        self,
        X: Floats,
        y: Array,
        sample_weight: Floats,
        plan: Plan,
        values: Sequence[Any],
        *,
        n_classes: int,
        output: Output,
        rows_per_block: int,
    ) -> HeldOut:
        """All folds and bandwidths from one pass over the pairs of rows."""
        self._check_parameters()
        numbers = numbers_of(values)
        refuse_no_partition(plan)
        if numbers is None:
            raise CannotSubtractError("the bandwidth depends on the training rows")
        blocks = self._held_out(X, y, sample_weight, plan, numbers, n_classes, output)
        return HeldOut(blocks(min(rows_per_block, ROWS_AT_ONCE)))

    def check_loaded(self) -> None:
        """Complain of parts that no fit leaves; asked after reading a model file."""
        if has_state(self):
            check_rows_of(self)
            self._check_loaded_targets()

    @property
    def _degree(self) -> int:
        return 0

    def _targets(self, y: Array, n_classes: int) -> Floats:
        """Columns to be averaged."""
        raise NotImplementedError

    def _answer(self, fits: Floats, output: Output) -> Array:
        """Predictions from averages (rows, values, columns)."""
        raise NotImplementedError

    def _with_targets(self, y: Array, n_classes: int) -> Self:
        """Set what is fitted of y."""
        raise NotImplementedError

    def _held_out(
        self,
        X: Floats,
        y: Array,
        weight: Floats,
        plan: Plan,
        values: Floats,
        n_classes: int,
        output: Output,
    ) -> Callable[[int], Iterator[Callable[[], Block]]]:
        Y = self._targets(y, n_classes)

        def block(repeat: int, placed: PlacedRows, fold: Ints, part: slice) -> Block:
            found = fits_of(
                self._kernel, self._degree, placed, Y, fold, placed.rows[part], fold[part],
                values / placed.unit if self.scale is None else values, self.n_jobs,
            )  # fmt: skip
            return repeat, np.arange(len(X))[part], self._answer(found.fits, output)

        def blocks(size: int) -> Iterator[Callable[[], Block]]:
            for repeat in range(plan.repeats):
                fold = plan.fold[repeat].astype(np.int64)
                if self.scale is None:
                    placed = PlacedRows.as_they_are(X, weight, int(fold.max()) + 1)
                else:
                    placed = PlacedRows.of(X, weight, training_spreads(X, weight, fold))
                for part in slices(len(X), size):
                    yield partial(block, repeat, placed, fold, part)

        return blocks

    def _check_loaded_targets(self) -> None:
        raise NotImplementedError

    def _keep(self, rows: Floats, y: Array, weight: Floats, n_classes: int) -> Self:
        """Fit to rows of positive weight and numbers or class codes."""
        self._check_parameters()
        self._forget()
        self.n_features_in_ = rows.shape[1]
        # Copies: a user may write into the data afterwards.
        self.rows_, self.weights_ = rows.copy(), weight.copy()
        self._with_targets(y.copy(), n_classes)
        self.bandwidth_ = self._bandwidth(rows, weight)
        _ = self._placed, self._columns  # found once, and kept
        return self

    def _bandwidth(self, rows: Floats, weight: Floats) -> float | Floats:
        d = rows.shape[1]
        spreads = spreads_of(rows, weight)
        if isinstance(self.bandwidth, str):
            factor = self._factor(rows, weight, spreads)
            return float(factor * spreads[0]) if d == 1 else factor * spreads
        found = checked_bandwidth(self.bandwidth, d)
        if self.scale is None:
            return found
        if np.ndim(found) == 2:
            raise ParameterError("a matrix is a bandwidth for scale=None: columns are not scaled")
        return found * spreads if d > 1 else float((found * spreads)[0])

    def _factor(self, rows: Floats, weight: Floats, spreads: Floats) -> float:
        """The bandwidth by a rule, in standard deviations."""
        n, d = float(weight.sum()), rows.shape[1]
        if self.bandwidth != "loo":
            rule = scott if self.bandwidth == "scott" else silverman
            return rule(n, d) * self._kernel.canonical(d)
        return left_out_bandwidth(
            self._kernel, self._degree, rows, weight, self._columns, spreads, self.n_jobs
        )

    def _check_parameters(self) -> None:
        kernel = kernel_of(self.kernel)
        if kernel.order > 2:
            raise ParameterError(
                f"kernel is {self.kernel!r}, which is negative in places: averages need weights "
                ">= 0; take a kernel of order 2"
            )
        if self.scale not in (None, "columns"):
            raise ParameterError(f"scale is {self.scale!r}; give 'columns' or None")
        if isinstance(self.bandwidth, str) and self.bandwidth not in RULES:
            raise ParameterError(
                f"bandwidth is {self.bandwidth!r}; give a number or one of {', '.join(RULES)}"
            )

    @property
    def _kernel(self) -> Kernel:
        return kernel_of(self.kernel)

    @cached_property
    def _placed(self) -> PlacedRows:
        """The training rows, in a unit of which the bandwidth is 1."""
        if np.ndim(self.bandwidth_) == 2:
            placing = Bandwidth.of(self.bandwidth_, self.rows_)
            return PlacedRows.by_matrix(self.rows_, self.weights_, placing)
        wide = np.broadcast_to(np.asarray(self.bandwidth_), (1, self.n_features_in_))
        return PlacedRows.of(self.rows_, self.weights_, wide)

    def _placing(self, targets: Floats) -> Floats:
        if np.ndim(self.bandwidth_) == 2:
            return Bandwidth.of(self.bandwidth_, self.rows_).place(targets)
        return self._placed.place(targets)

    @cached_property
    def _columns(self) -> Floats:
        n_classes = len(self.classes_) if hasattr(self, "classes_") else 0
        return self._targets(self.y_train_, n_classes)

    def _fits(
        self,
        targets: Floats,
        Y: Floats | None = None,
        degree: int | None = None,
        *,
        with_norms: bool = False,
    ) -> LocalFits:
        """Fits at checked targets, of the columns Y or the targets themselves."""
        return fits_of(
            self._kernel,
            self._degree if degree is None else degree,
            self._placed,
            self._columns if Y is None else Y,
            None,
            self._placing(targets),
            None,
            np.ones(1),
            self.n_jobs,
            with_norms=with_norms,
        )


class KernelSmootherPath(Path):
    """A kernel smoother for each bandwidth, of one training set."""

    same_as_fit = True

    def __init__(
        self,
        learner: KernelSmoother,
        rows: Floats,
        y: Array,
        weight: Floats,
        values: Sequence[Any],
        n_classes: int,
    ) -> None:
        learner._check_parameters()
        self.learner, self.values, self.n_classes = learner, values, n_classes
        self.rows, self.y, self.weight = rows, y, weight
        self._numbers = numbers_of(values)
        self._models: dict[int, KernelSmoother] = {}

    def at(self, j: int) -> KernelSmoother:
        """The fitted learner at the j-th bandwidth."""
        if j not in self._models:
            model = clone(self.learner).set_params(bandwidth=self.values[j])
            self._models[j] = model._keep(self.rows, self.y, self.weight, self.n_classes)
        return self._models[j]

    def predict_path(self, X: Floats, output: Output) -> Array:
        """Predictions (rows, bandwidths), or probabilities (rows, bandwidths, classes)."""
        learner = self.learner
        if self._numbers is None:
            fits = [self.at(j)._fits(X).fits for j in range(len(self.values))]
            return learner._answer(np.concatenate(fits, axis=1), output)
        scaled = learner.scale == "columns"
        if scaled:
            spreads = spreads_of(self.rows, self.weight)
            placed = PlacedRows.of(self.rows, self.weight, spreads[None])
        else:
            placed = PlacedRows.as_they_are(self.rows, self.weight, 1)
        found = fits_of(
            learner._kernel, learner._degree, placed, learner._targets(self.y, self.n_classes),
            None, placed.place(X), None,
            self._numbers if scaled else self._numbers / placed.unit, learner.n_jobs,
        )  # fmt: skip
        return learner._answer(found.fits, output)

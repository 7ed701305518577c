"""Steps of torch's optimisers by its functions.

The classes of torch.optim import torch._dynamo, which takes nearly as long as torch itself.
"""

from collections.abc import Callable, Iterable


def step_of(optimiser: str, parameters: Iterable, learning_rate: float) -> Callable[[], None]:
    """Return a function that takes a step and clears the gradients, with torch's defaults.

    Args:
        optimiser: "adam" or "sgd".
        parameters: Tensors, each with a gradient at every step.
    """
    import torch
    from torch.optim.adam import adam
    from torch.optim.sgd import sgd

    parameters = list(parameters)
    means, squares = ([torch.zeros_like(each) for each in parameters] for _ in range(2))
    counts = [torch.tensor(0.0) for _ in parameters]

    def by_adam(gradients: list) -> None:
        adam(
            parameters,
            gradients,
            means,
            squares,
            [],
            counts,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    def by_sgd(gradients: list) -> None:
        sgd(
            parameters,
            gradients,
            [None] * len(parameters),
            weight_decay=0.0,
            momentum=0.0,
            lr=learning_rate,
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )

    move = {"adam": by_adam, "sgd": by_sgd}[optimiser]

    @torch.no_grad()
    def step() -> None:
        move([each.grad for each in parameters])
        for each in parameters:
            each.grad = None

    return step

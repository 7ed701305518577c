"""torch's LSTM step by step, for the gradients with respect to the inputs of the gates.

A layer is one affine map, whose result W x enters the gates. W has W_inner, W_recurrent and the
biases side by side, and x = (input, state before the step, ones). torch's own function does not
reveal the gradients with respect to W x.
"""

import torch
from torch import Tensor
from torch.nn.functional import linear

from learning.training.recorded_calls import Affine

_sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
_tanh_backward = torch.ops.aten.tanh_backward.grad_input


class Layer(Affine):
    """One layer; `result` is its states (n, steps, hidden).

    Args:
        x: Inputs (steps, n, width).
        start: State and cell (n, hidden) before the first step.
        inner, recurrent: The weights (4 hidden, width) and (4 hidden, hidden).
        biases: The biases (4 hidden,) that are parameters.
        bias: The sum (4 hidden,) of all biases, parameters or not.
    """

    def __init__(self, x, start, inner, recurrent, biases, bias) -> None:
        # Their gradient is the gradient with respect to W x; their values are never read.
        zeros = x.new_zeros(()).expand(*x.shape[:2], len(bias)).requires_grad_()
        states = _Steps.apply(x, zeros, inner, recurrent, bias, *start)
        result = states[1:].transpose(0, 1)
        super().__init__([inner, recurrent, *biases], [], result, zeros)
        ones = x.new_ones(()).expand(*x.shape[:2], len(biases))
        self.x = x.detach(), states.detach()[:-1], ones

    def inputs(self):
        return torch.cat(self.x, dim=2).permute(1, 2, 0)

    def outward(self, gradient):
        return gradient.permute(1, 2, 0)


def lstm(known, x, start, tensors, biased, layers, dropout, train, bidirectional, batch_first):
    """Record a call of torch.lstm with one layer in one direction.

    Args:
        known: Tells whether a tensor is a parameter; biases may be constants.
        x, start, ...: The arguments of torch.lstm.

    Raises:
        TypeError: There is more than one layer or direction, or dropout; biases or batch_first are
            missing; or the start is not constant.
    """
    several = layers > 1 or bidirectional or (train and dropout)
    if several or not (biased and batch_first) or start[0].requires_grad:
        raise TypeError(
            "it must have one layer in one direction, biases, batch_first, a constant start and no "
            "dropout"
        )
    inner, recurrent, *biases = tensors
    parameters = [bias for bias in biases if known(bias)]
    first = [each[0] for each in start]
    steps = x.transpose(0, 1).contiguous()
    return Layer(steps, first, inner, recurrent, parameters, sum(biases))


class _Steps(torch.autograd.Function):
    """The states (steps + 1, n, hidden) of a layer; the first is the one before the first step."""

    @staticmethod
    def forward(ctx, x, zeros, inner, recurrent, bias, state, cell):
        gates = linear(x, inner, bias)
        states, cells = (_begun(each, len(x)) for each in (state, cell))
        squashed = torch.zeros_like(states[1:])
        turned = recurrent.T.contiguous()
        tensors = (*_gates(gates), states[:-1], states[1:], cells[:-1], cells[1:], squashed)
        for step in _each_step(tensors):
            gate, two, inlet, forget, new, outlet, before, after, old, cell, tanh = step
            gate.addmm_(before, turned)
            two.sigmoid_()
            new.tanh_()
            outlet.sigmoid_()
            torch.mul(forget, old, out=cell).addcmul_(inlet, new)
            torch.mul(outlet, torch.tanh(cell, out=tanh), out=after)
        ctx.save_for_backward(inner, recurrent, gates, states, cells, squashed)
        return states

    @staticmethod
    def backward(ctx, by_states):
        inner, recurrent, gates, states, cells, squashed = ctx.saved_tensors
        found = torch.zeros_like(gates)
        by_state, by_cell, spare = (torch.zeros_like(states[0]) for _ in range(3))
        later = torch.zeros_like(gates[0])
        tensors = (
            *(*_gates(gates)[1:], *_gates(found)),
            *(states[1:], cells[:-1], squashed, by_states[1:]),
        )
        for step in reversed(_each_step(tensors)):
            two, inlet, forget, new, outlet, by_gate, by_two, *by_gates = step[:-4]
            by_inlet, by_forget, by_new, by_outlet = by_gates
            state, old, tanh, by_output = step[-4:]
            torch.addmm(by_output, later, recurrent, out=by_state)
            # outlet (1 - tanh^2) = outlet - state tanh.
            by_cell.addcmul_(by_state, torch.addcmul(outlet, state, tanh, value=-1, out=spare))
            torch.mul(by_state, tanh, out=spare)
            _sigmoid_backward(spare, outlet, grad_input=by_outlet)
            torch.mul(by_cell, new, out=by_inlet)
            torch.mul(by_cell, old, out=by_forget)
            _sigmoid_backward(by_two, two, grad_input=by_two)
            torch.mul(by_cell, inlet, out=spare)
            _tanh_backward(spare, new, grad_input=by_new)
            by_cell *= forget
            later = by_gate
        by_x = found @ inner if ctx.needs_input_grad[0] else None
        return by_x, found, None, None, None, None, None


def _begun(start: Tensor, steps: int) -> Tensor:
    """Return a tensor (steps + 1, n, hidden) of `start` followed by zeros."""
    return torch.cat([start[None], start.new_zeros(steps, *start.shape)])


def _gates(all_gates: Tensor) -> tuple[Tensor, ...]:
    """Return all gates (steps, n, 4 hidden), the first two, and then each, in torch's order."""
    size = all_gates.shape[2] // 4
    return (all_gates, all_gates[..., : 2 * size], *all_gates.split(size, dim=2))


def _each_step(tensors: tuple[Tensor, ...]) -> list[tuple[Tensor, ...]]:
    """Slice tensors (steps, ...) into their parts at each step; making all at once is faster."""
    return list(zip(*(tensor.unbind() for tensor in tensors), strict=True))

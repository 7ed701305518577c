"""Run the notebook's code cells and store their output: ``python -m site_builder.notebook``.

Cells run in this process, one after the other, so that neither this command nor the tests need a
kernel. The tests compare the stored outputs with new ones.
"""

import ast
import contextlib
import io
from pathlib import Path

import nbformat

from mechanisms.cli.arguments import Parser

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "tour.ipynb"


def execute(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a copy with new outputs of its code cells: printed text, and the last line's value.

    An exception in a cell is not caught.
    """
    names: dict = {"__name__": "notebook"}
    copy = nbformat.from_dict(notebook)
    code = (cell for cell in copy.cells if cell.cell_type == "code")
    for count, cell in enumerate(code, start=1):
        cell.execution_count = count
        cell.outputs = _outputs(cell.source, names, count)
    return copy


def _outputs(source: str, names: dict, count: int) -> list[nbformat.NotebookNode]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append(nbformat.v4.new_output("stream", name="stdout", text=printed.getvalue()))
    if value is not None:
        data = {"text/plain": repr(value)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_()
        outputs.append(nbformat.v4.new_output("execute_result", data=data, execution_count=count))
    return outputs


def main(arguments: list[str] | None = None) -> None:
    """Run the notebook and write its outputs into it."""
    Parser(prog="python -m site_builder.notebook", description=__doc__).parse_args(arguments)
    nbformat.write(execute(nbformat.read(NOTEBOOK, as_version=4)), NOTEBOOK)


if __name__ == "__main__":
    main()

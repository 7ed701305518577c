"""Tables in Markdown."""

import pandas as pd


def markdown_table(table: pd.DataFrame) -> str:
    """A table as GitHub's Markdown shows it, without the index; every cell is shown as text."""
    # A bar would end a cell, and a line break the row.
    text = table.astype(str).map(lambda cell: " ".join(cell.split()).replace("|", r"\|"))
    return text.to_markdown(index=False, tablefmt="github", disable_numparse=True)

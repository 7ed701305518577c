"""The command `new`: a template, copied to where it is found, or a claim to paste."""

import argparse
import keyword
import re
from pathlib import Path

from mechanisms.base.registry import all_mechanisms

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "extend"
# By kind: the template, the folder of the copy, and the words of the template that get the name.
KINDS = {
    "mechanism": ("mechanism.py", "mechanisms/catalogue", ("my-mechanism", "MyMechanism")),
    "without-noise": (
        "mechanism_without_noise.py", "mechanisms/catalogue", ("my-bits", "MyBits"),
    ),
    "noise": ("noise.py", "mechanisms/noise", ("", "TwoScales")),
    "dataset": ("dataset.py", "datasets/loaders", ("my_data", "MyData")),
    "study": ("study.py", "studies", ("my_study", "MyStudy")),
}  # fmt: skip


def add_new_command(commands) -> None:
    """Add the command to the subparsers `commands`."""
    parser = commands.add_parser(
        "new", help="a file from a template, ready to edit",
        description="Copies a template of extend/ to where the suite finds it, under a new name. "
        "Of a claim it prints the entry to paste; of a paper's first one it writes the files.",
    )  # fmt: skip
    parser.add_argument("kind", choices=(*KINDS, "claim"), help="what it is")
    parser.add_argument(
        "name", type=_name,
        help="such as my_noise: letters, digits and _; of a claim its paper, such as r1smg2024",
    )  # fmt: skip
    parser.set_defaults(run=_new, show=str, json=False)


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text) or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(
            f"must be small letters, digits and _, and no word of Python, such as my_noise, got "
            f"{text!r}"
        )
    return text


def _new(options: argparse.Namespace) -> str:
    if not TEMPLATES.is_dir():
        raise ValueError("the templates are in a clone of the project: run it there")
    if options.kind == "claim":
        return _entry(options.name)
    template, folder, (word, class_name) = KINDS[options.kind]
    path = ROOT / folder / f"{options.name}.py"
    if path.exists() or path.with_suffix("").exists():
        raise ValueError(f"{path.relative_to(ROOT)} exists already: choose another name")
    key = options.name.replace("_", "-") if folder == "mechanisms/catalogue" else options.name
    if folder == "mechanisms/catalogue" and key in all_mechanisms():
        raise ValueError(f"there is a mechanism {key!r} already: choose another name")
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    title = "".join(part.capitalize() for part in options.name.split("_"))
    text = re.sub(rf"\b{class_name}\b", title, text)
    if word:
        text = re.sub(rf"(?<![\w-]){word}(?![\w-])", key, text)
    path.write_text(text, encoding="utf-8")
    lines = [f"{path.relative_to(ROOT)}, from extend/{template}: edit it"]
    if folder == "mechanisms/catalogue":
        lines.append(f"it is found already: python -m mechanisms describe {key}")
    lines.append("CONTRIBUTING.md says what else such a file needs")
    return "\n".join(lines)


def _entry(paper: str) -> str:
    """A claim of a paper, valid as it stands; its verdict is "not run".

    A new paper gets its home, with the entry in its claims.yaml.
    """
    text = (TEMPLATES / "claim_without_judge.yaml").read_text(encoding="utf-8").rstrip()
    text = text.replace("<paper>", paper).replace("my-claim", f"{paper}-claim")
    home = ROOT / "paper_figures" / paper
    if (home / "claims.yaml").exists():
        return text
    if not re.search(r"[a-z](19|20)\d\d$", paper):
        papers = sorted(path.parent.name for path in ROOT.glob("paper_figures/*/claims.yaml"))
        raise ValueError(
            f"no paper {paper!r} has claims; choose one of {', '.join(papers)}, or end the name of "
            "a new paper with its year, such as mypaper2026"
        )
    home.mkdir(exist_ok=True)
    (home / "claims.yaml").write_text(f"{text}\n", encoding="utf-8")
    if not (home / "__init__.py").exists():
        (home / "__init__.py").write_text(_HOME.format(paper=paper), encoding="utf-8")
    return "\n".join(
        (
            f"paper_figures/{paper}/claims.yaml, with a first claim: edit it",
            f"paper_figures/{paper}/__init__.py: give it the paper's short name and its MECHANISMS",
            f"CITATION.cff: add the paper to its references, with the abbreviation {paper}",
            "python -m paper_figures judge reference: puts the claim into the ledger, and the next "
            "build of the site has a page of the paper, cited or not",
        )
    )


_HOME = '''"""{paper}: say in a sentence what the paper proposes."""

NAME = "{paper}"
'''

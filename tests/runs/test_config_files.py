"""Config files: allowed YAML, the lines of mistakes, and included files."""

from pathlib import Path

import pytest
import yaml

from runs.config import read_config
from studies.base.settings import ConfigError
from studies.base.yaml_file import read_yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        (b"", "mine.yaml: Input should be a valid dictionary or instance of RunSettings, got None"),
        (b"run: [", "the node content, but found '<stream end>' in \"PATH\", line 1"),
        (
            b"run: a\n\tseed: 1\n",
            "found character '\\t' that cannot start any token in \"PATH\", line 2",
        ),
        (
            b"run: a\nseed: 'b\nc: d\n",
            'a quoted scalar in "PATH", line 2, column 7 found unexpected end of stream',
        ),
        (
            b"run: a\nseed: 1\nrun: b\n",
            "the key 'run' appears twice, first in line 1; remove one in \"PATH\", line 3",
        ),
        (
            b"a: {b: 1,\n b: 2}\n",
            "the key 'b' appears twice, first in line 1; remove one in \"PATH\",",
        ),
        (b"run: a\n# \xfcber\n", 'character #x00fc: invalid start byte in "PATH", position 9'),
        (b"run: a\0\n", 'special characters are not allowed in "PATH", position 6'),
        (b"run: !!python/name:os.system\n", "could not determine a constructor for the tag "),
        (b"? [1, 2]\n: 3\n", 'found unhashable key in "PATH", line 1'),
        (b"a: !!map [1]\n", 'expected a mapping node, but found sequence in "PATH", line 1'),
        (
            b"run: 2020-99-99\n",
            '2020-99-99: month must be in 1..12; put a text in quotes in "PATH", l',
        ),
        (
            b"sizes: [0x3]\n",
            'YAML reads 0x3 as 3; quote a text, write numbers in decimals in "PATH"',
        ),
        (b"seed: 010\n", "YAML reads 010 as 8; quote a text"),
        (b"seed: 1:30\n", "YAML reads 1:30 as 90; quote a text"),
        (b"a: 1:30.5\n", "YAML reads 1:30.5 as 90.5; quote a text"),
        (b"run: mine\n", "mine.yaml: key studies: Field required"),
        (b"run: a\nsede: 1\n", "mine.yaml, line 2: key sede: unknown name; did you mean 'seed'?"),
        (b"run: a\nlimits:\n  seconds: 0\n", "mine.yaml, line 3: key limits.seconds: Input should"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, content, words):
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert words.replace("PATH", str(path)) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("studies.guarantee.sizes", "    sizes: [0x3x1, 4x4]", "    sizes: [3x1, 4x4]"),
        ("studies.guarantee.sizes", "    sizes: [4x4, 4x4]", "    sizes: [3x1, 4x4]"),
        ("studies.pca.epsilons_for.udn", "    epsilons_for: {udn: [1]}", "4e-8, 1.6e-7"),
        ("studies.dpsgd.records", "    records: {mnist: 200}", "    records: {digits: 200}"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(tmp_path, key, value, line):
    """The error names the replaced line of tiny.yaml, or the line of its key."""
    lines = (ROOT / "config/tiny.yaml").read_text().splitlines()
    number = next(i for i, text in enumerate(lines) if line in text)
    lines[number] = value
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}, line {number + 1}: ")
    assert caught.value.key.startswith(key)
    assert "\n" not in str(caught.value)


INCLUDED = """\
variants:
  loud: {use: mvg, options: {zeta: sqrt}}
sets:
  some: [laplace, loud]
  more: [some, gaussian]
"""


def including(tmp_path, included=INCLUDED, mechanisms=("more",), **own):
    """Write a small config that includes a file with this text; return its path."""
    path, shared = tmp_path / "mine.yaml", tmp_path / "shared.yaml"
    if included is not None:
        shared.write_text(included)
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    study = tiny["studies"]["private_data"] | {"mechanisms": list(mechanisms)}
    config = {"run": "mine", "include": str(shared), **own, "studies": {"private_data": study}}
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


def test_an_included_file_reads_as_if_it_stood_in_the_config(tmp_path):
    own = {"variants": {"mine": {"use": "udn"}}, "sets": {"two": ["mine", "more"]}}
    path = including(tmp_path, mechanisms=["two"], **own)
    included = read_config(path)
    content = yaml.safe_load(path.read_text())
    content.pop("include")
    shared = yaml.safe_load(INCLUDED)
    for key in ("variants", "sets"):
        content[key] = shared[key] | content[key]
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    assert included == read_config(path)
    assert list(included["variants"]) == ["loud", "mine"]
    assert included["sets"]["two"] == ["mine", "laplace", "loud", "gaussian"]
    study = included["studies"]["private_data"]
    assert study.mechanisms == ["mine", "laplace", "loud", "gaussian"]


@pytest.mark.parametrize(
    ("included", "words"),
    [
        (None, "cannot read {shared}: No such file"),
        ("sets: {a: [mvg]}\nsets: {}\n", "the key 'sets' appears twice, first in line 1"),
        ("", "Input should be a valid dictionary or instance of Included, got None"),
        ("run: a\n", "line 1: key run: unknown name; allowed here are variants, sets"),
        ("include: a\n", "line 1: key include: unknown name; allowed here are variants, sets"),
        ("sets:\n  a: [mvgg]\n", "line 2: key sets.a.mvgg: unknown name; did you mean 'mvg'?"),
        ("sets:\n  a: [mvg, mvg]\n", "line 2: key sets.a: 'mvg' appears twice; remove one"),
        ("sets: {a: [later], later: [mvg]}\n", "line 1: key sets.a.later: unknown name; allowed"),
        (
            "variants:\n  mine: {use: mvg, options: {zeta: x}}\n",
            "line 2: key variants.mine.options.zeta: option zeta must be published or sqrt",
        ),
    ],
)
def test_a_mistake_in_an_included_file_is_told_with_both_lines(tmp_path, included, words):
    path = including(tmp_path, included)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    message, shared = str(caught.value), str(tmp_path / "shared.yaml")
    assert message.startswith(f"{path}, line 2: key include: ") and shared in message
    assert words.replace("{shared}", shared) in message and "\n" not in message


@pytest.mark.parametrize(
    ("key", "entry"), [("variants", {"loud": {"use": "udn"}}), ("sets", {"some": ["udn"]})]
)
def test_a_name_of_the_included_file_is_taken(tmp_path, key, entry):
    (name,) = entry
    with pytest.raises(ConfigError, match=f"mine.yaml, line .: key {key}.{name}: it is in .* al"):
        read_config(including(tmp_path, **{key: entry}))


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (ROOT / "config/tiny.yaml").read_bytes())
    assert read_config(path)["run"] == "tiny"


def test_anchors_and_merges_are_no_repetition(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, x: 2}\n")
    assert read_yaml(path) == {"a": {"x": 1}, "b": {"x": 2}}

"""The checker confirms the committed certificates, and its arithmetic agrees with mpmath."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from flint import arb, fmpq

import check_certificate
from claims.certificates import FOLDER, certificate_of, command, proof

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(FOLDER.glob("*.json"))


def certificates(name: str) -> list[dict]:
    return json.loads((FOLDER / f"{name}.json").read_text())["certificates"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_committed_certificates_are_confirmed(path):
    for certificate in json.loads(path.read_text())["certificates"]:
        proved = check_certificate.check(certificate)
        word = "HOLDS" if "delta_at_most" in certificate["bound"] else "REFUTED"
        assert proved.startswith(f"{word}; claim epsilon {certificate['claim']['epsilon']}, delta ")
        assert f"; setting {certificate['setting']}; mechanism " in proved
        assert not set("{}'\"") & set(proved)


@pytest.mark.parametrize(
    ("checker", "file", "lines", "told"),
    [
        (
            "check_certificate.py",
            "r1-thm5.json",
            9,
            "r1-thm5.json: 8 proved, the last: REFUTED; claim epsilon 0.0140625, delta 1e-05; "
            "bound delta_at_least 0.4118802",
        ),
        (
            "check_limit.py",
            "limits/elements-1.json",
            3,
            "elements 1, l2 1.0, epsilon 1.0, delta 1e-05: RMSE of an element at least 1.38426142",
        ),
    ],
)
def test_a_stranger_needs_one_file(checker, file, lines, told, tmp_path):
    for source in (ROOT / checker, FOLDER / file):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    command = [sys.executable, checker, Path(file).name]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = run.stdout.splitlines()
    assert len(found) == lines and told in found


@pytest.mark.parametrize("checker", ["check_certificate.py", "check_limit.py"])
def test_no_file_and_no_certificate_prove_nothing(checker, tmp_path):
    command = [sys.executable, str(ROOT / checker)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.endswith(f"python {checker} FILE ...\n") and run.stderr.count("\n") == 1
    (other,) = {"check_certificate.py", "check_limit.py"} - {checker}
    for given, content in (
        ("none.json", b'{"certificates": [], "limits": []}'),
        ("other.json", b'{"epsilon": 1}'),
        ("list.json", b"[1]"),
        ("text.json", b"no JSON"),
        ("binary.json", b"\xff\x00"),
        ("cut.json", (FOLDER / "r1-thm5.json").read_bytes()[:-40]),
        ("absent.json", None),
    ):
        if content is not None:
            (tmp_path / given).write_bytes(content)
        run = subprocess.run([*command, tmp_path / given], capture_output=True, text=True)
        assert run.returncode == 1 and run.stdout == "" and run.stderr.count("\n") == 1
        # The message names the files it takes and the other checker, but no Python class.
        assert f"{given}: NOT PROVED: not a JSON file of results/reference/" in run.stderr
        assert other in run.stderr and "Error" not in run.stderr
        if given == "other.json":
            assert ": it has no " in run.stderr


@pytest.mark.parametrize("checker", ["check_certificate.py", "check_limit.py"])
def test_an_error_is_one_line(checker, tmp_path):
    command = [sys.executable, ROOT / checker, "forged.json"]
    groups = {key: {} for key in ("neighbours", "noise", "event", "bound", "test")}
    forged = groups | {"claim": {"epsilon": "1\n2"}}
    (tmp_path / "forged.json").write_text(
        json.dumps({"certificates": [forged], "limits": [forged]})
    )
    (tmp_path / "flint.py").write_text("raise ImportError")
    for flint, words in (
        ({}, "forged.json: NOT PROVED: no decimal"),
        ({"PYTHONPATH": str(tmp_path)}, "error: the checker needs python-flint"),
    ):
        run = subprocess.run(command, cwd=tmp_path, env=flint, capture_output=True, text=True)
        assert run.returncode == 1 and run.stdout == ""
        assert run.stderr.startswith(words) and run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("checker", "most"), [("check_certificate.py", 186), ("check_limit.py", 160)]
)
def test_the_checker_is_short_and_independent(checker, most):
    lines = (ROOT / checker).read_text().splitlines()
    assert len(lines) <= most
    imported = {line.split()[1] for line in lines if line.startswith(("import ", "from "))}
    assert imported - {"flint"} <= set(sys.stdlib_module_names)


def holds(ball, exact) -> bool:
    """Whether a ball of the checker is small and contains a number known to 40 digits."""
    low, high = (mpmath.mpf(str(end.str(45, radius=False))) for end in (ball.lower(), ball.upper()))
    return (
        low - mpmath.mpf(10) ** -36 <= exact <= high + mpmath.mpf(10) ** -36 and high - low < 1e-15
    )


@pytest.mark.parametrize(
    ("size", "rho", "tau"),
    [(3, "0.7", "0.4"), (4, "0.01", "0.1"), (16, "0.5", "0.2")],
)
def test_balls_against_quadrature_over_the_radius(size, rho, tau):
    # sigma = 1, |x - x'| = rho
    square, height = (fmpq(*Fraction(text).as_integer_ratio()) for text in (rho, tau))
    _, *found = check_certificate.ball(size, arb(1), square**2, height)
    with mpmath.workdps(20):
        rho, tau = mpmath.mpf(rho), mpmath.mpf(tau)
        excess = tau**2 / (1 - tau**2)

        def cap(cosine):  # P(cosine with a fixed direction <= cosine)
            if abs(cosine) >= 1:
                return mpmath.mpf(cosine > 0)
            half = mpmath.betainc(0.5, mpmath.mpf(size - 1) / 2, 0, cosine**2, regularized=True) / 2
            return 0.5 + half if cosine > 0 else 0.5 - half

        def mean(function, kinks):
            def density(r):
                return (
                    mpmath.sqrt(2 / mpmath.pi)
                    * rho
                    * mpmath.exp(-((rho * r) ** 2) / 2)
                    * function(r)
                )

            return mpmath.quad(density, [0, *kinks, 4 / rho, 16 / rho])

        # The radii at which the sphere around x leaves the ball, and the one around x' meets it.
        w, u = 1 / mpmath.sqrt(1 - tau**2), mpmath.sqrt(1 - tau**2)
        kinks = sorted([1 / (1 + w), (1 + w) / excess, 1 / mpmath.sqrt(excess)])
        p = mean(lambda r: cap((1 - excess * r**2) / (2 * r)), kinks)
        kinks = sorted([1 / (1 + u), 1 / tau, (1 + u) / tau**2])
        q = mean(lambda r: 1 - cap((tau**2 * r**2 + 1) / (2 * r)), kinks)
    for ball, exact in zip(found, (p, q), strict=True):
        middle = mpmath.mpf(ball.mid().str(20, radius=False))
        assert abs(middle - exact) < 1e-12
        assert float(ball.rad()) < 1e-15


def test_half_spaces_against_the_normal_distribution():
    with mpmath.workdps(50):
        for z, mu in ((-8, 0.1), (0.3, 2.5), (12, 3)):
            p, q = check_certificate.half_space(arb(z), arb(mu))
            assert holds(p, mpmath.ncdf(z))
            assert holds(q, mpmath.ncdf(mpmath.mpf(z) - mpmath.mpf(mu)))


def test_laplace_scores_against_an_enumeration():
    """Every pair of scores for two components and three cells."""
    claim = {"epsilon": fmpq(1, 2), "delta": 0, "scale": 2}
    change = {"changed": (2, 2), "change": (1, 1), "laplace": 1, "weight": fmpq(1, 4)}
    _, p, q = check_certificate.tldp(**claim, **change, cells=3, score=4)
    with mpmath.workdps(40):
        middles = [mpmath.mpf(1) / 12, mpmath.mpf(3) / 12, mpmath.mpf(5) / 12]  # (y - x) / b

        def below(u):
            return mpmath.exp(u) / 2 if u < 0 else 1 - mpmath.exp(-u) / 2

        def score_law(shift):
            cuts = [0, *(below(middle - shift) for middle in middles), 1]
            return [cuts[4 - s] - cuts[3 - s] for s in range(4)]

        # p = e^a / (2 b + e^a), a = epsilon - I width / b = -epsilon.
        kept = mpmath.exp(mpmath.mpf(-0.5)) / (4 + mpmath.exp(mpmath.mpf(-0.5))) * 3 / 4
        noisy = (1 - kept) ** 2
        for found, shift, atom in ((p, 0, 1 - noisy), (q, mpmath.mpf(1) / 2, 0)):
            law = score_law(shift)
            tail = sum(law[i] * law[j] for i in range(4) for j in range(4) if i + j >= 4)
            assert holds(found, atom + noisy * tail)


@pytest.mark.parametrize(
    ("n", "start", "stride", "changes", "within"),
    [
        (11, 0, 2, dict.fromkeys(range(0, 11, 2), 1), 1e-12),
        (11, 5, 11, {5: 1}, 1e-12),
        # Between two changed cells only the counted intervals are known.
        (12, 3, 6, {3: 1, 9: -1}, 2e-2),
    ],
)
def test_dawa_against_all_intervals(n, start, stride, changes, within):
    """Every interval of 2, 4 and 8 cells, with its own deviation; log P is at most their sum."""
    l1, epsilon = len(changes), 0.5
    norms = {"l1": (l1, l1), "l2_squared": (l1, l1), "linf": (1, 1)}
    unit, *found = check_certificate.dawa(
        fmpq(1, 2), 0, 8 * l1, n, **norms, start=start, stride=stride
    )
    assert unit == 8 * l1
    for probability, changed, relative in zip(found, (changes, {}), (within, 1e-12), strict=True):
        x, total = [changed.get(i, 0) for i in range(n)], 0.0
        for length in (2, 4, 8):
            noise = (2 - 1 / length - 1 / n) * l1 / (epsilon / 4)
            for first in range(n - length + 1):
                cells = x[first : first + length]
                deviation = sum(abs(cell - sum(cells) / length) for cell in cells)
                gap = ((length - 1) * l1 / (epsilon * 3 / 4) - deviation) / noise
                total += -math.log(2) - gap if gap > 0 else math.log1p(-math.exp(gap) / 2)
        assert float(probability.log()) <= total + 1e-12
        assert float(probability.log()) == pytest.approx(total, rel=relative)


def test_stated_delta_of_product_noise():
    """The published code prints 1.9779675188e-7 at M = 26010, epsilon 0.3, k = 40000."""
    (claim,) = (
        each for each in certificates("product-guarantee") if each["neighbours"]["m"] == 26010
    )
    assert float(claim["claim"]["delta"]) == pytest.approx(1.9779675188e-7, rel=1e-5)
    claim["claim"]["delta"] = "1.97e-7"
    with pytest.raises(ValueError, match="the stated delta is"):
        check_certificate.check(claim)


def test_pages_name_the_file_the_command_and_the_bound():
    page = (FOLDER.parent / "claims.md").read_text()
    for claim in ("r1-thm5", "tldp-thm1", "product-guarantee", "imgm-f1-budget", "imgm-thm2"):
        (path,) = certificate_of(claim)
        assert command(path) in page and proof(path) in page
        assert (ROOT / command(path).split()[-1]).is_file()
    assert "0.2166416" in proof(FOLDER / "r1-thm5.json")
    r1smg = [FOLDER / "guarantee-r1smg.json", FOLDER / "r1-thm5.json"]
    assert (certificate_of("guarantee/r1smg"), certificate_of("r1-ca")) == (r1smg, [])


ROOT_OF_DELTA = {
    "setting": "forged", "mechanism": "gaussian", "claim": {"epsilon": "1", "delta": "1e-5"},
    "neighbours": {}, "noise": {"scale": "0.26805112321129"}, "event": {},
    "bound": {"delta_at_most": "1e-5"},
}  # fmt: skip
# One cell changes, and intervals that straddle `start` hold fewer spots than those after it.
LAST_SPOTS = {
    "setting": "forged", "mechanism": "dawa", "claim": {"epsilon": "1", "delta": 0},
    "neighbours": {
        "n": 65536, "l1": {"is": 1, "at_most": 1}, "l2_squared": {"is": 1, "at_most": 1},
        "linf": {"is": 1, "at_most": 1}, "start": 65534, "stride": 2,
    },
    "noise": {"scale": 4}, "event": {}, "bound": {"epsilon_at_least": "8000"},
}  # fmt: skip
# The event has the probability 0.903028032135594937...
ABOVE_WISHART = {
    "setting": "forged", "mechanism": "wishart", "claim": {"epsilon": 7, "delta": "1e-5"},
    "neighbours": {"record_squared": {"is": 1, "at_most": 1}}, "noise": {"scale": "3/14"},
    "event": {}, "bound": {"delta_at_least": "0.90302803213559494347"},
}  # fmt: skip


@pytest.mark.parametrize(
    "forged",
    [
        ROOT_OF_DELTA | {"neighbours": {"z": "40"}, "bound": {"delta_at_most": "-1.7"}},
        ROOT_OF_DELTA
        | {"noise": {"scale": "0.26805112321129", "z": "-20"}, "bound": {"delta_at_most": "1e-80"}},
        ROOT_OF_DELTA | {"bound": {"delta_at_most": "9.9999999e-06"}},
        LAST_SPOTS,
        ABOVE_WISHART,
    ],
    ids=[
        "event among neighbours",
        "event in the noise",
        "below the exact delta",
        "last spots",
        "rounded whole epsilon",
    ],
)
def test_forged_certificates_are_refused(forged):
    with pytest.raises(ValueError, match="not proved"):
        check_certificate.check(forged)


def test_what_the_forged_ones_were_made_of_is_proved():
    assert check_certificate.check(ROOT_OF_DELTA).startswith("HOLDS; claim ")

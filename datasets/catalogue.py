"""The table of data sets: where each comes from and which bytes are the right ones.

`Dataset.files` are the files that the loader reads. An entry may name two further ways to
the same content, because publishers and mirrors pack it differently:

- `archive`: a download that *contains* `files`; they are unpacked from it and every one is
  checked against its own checksum (CIFAR-10 is published as one tar.gz of seven files);
- `repack`: another packaging of the same content, as a mirror may hold it, which the loader
  reads just as well (the 50,000 labelled IMDB reviews in a new tar). It has its own checksum
  and no official address.

Checksums are of the content, that is of what comes out of a mirror's `.xz`. `None` means that
no checksum is published: the fetch then prints and records the one it finds (see `checksums`).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from datasets.fetching.data_error import DataError

Source = Literal["official", "bundled", "simulated"]


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """One file to download.

    Attributes:
        name: its name in the data set's folder, here and in a mirror (there also `<name>.xz`).
        urls: official addresses, in order of preference; empty if it is not served by itself.
        bytes: size of the content, None if unknown.
        sha256: hex digest of the content, or its first digits where no more is published; None if
            nothing is.
        md5: hex digest of the content, checked as well where the publisher gives it.
    """

    name: str
    urls: tuple[str, ...] = ()
    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One line of the table.

    Attributes:
        name: key, folder name and module name of the loader.
        source: where the data come from; every result row carries it as `data_source`.
        rows: the official number of records by part; loaders refuse any other number.
        manual: the step by hand where nothing can be downloaded directly.
    """

    name: str
    title: str
    source: Source
    licence: str
    citation: str
    rows: Mapping[str, int] = field(hash=False)
    files: tuple[RemoteFile, ...] = ()
    archive: RemoteFile | None = None
    repack: RemoteFile | None = None
    manual: str = ""


_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_UCI_ZIP = "https://archive.ics.uci.edu/static/public"
_PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
_SHOKRI = "https://github.com/privacytrustlab/datasets/raw/master"
_SHOKRI_OLD = "https://www.comp.nus.edu.sg/~reza/files"
_SVHN = "http://ufldl.stanford.edu/housenumbers"

# The address of record, yann.lecun.com, has often refused downloads since 2023; the other two
# are copies kept by PyTorch and TensorFlow. The checksums are those of the original files.
_MNIST = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
    "http://yann.lecun.com/exdb/mnist",
)


def _mnist(name: str, size: int, sha256: str, md5: str) -> RemoteFile:
    urls = tuple(f"{base}/{name}" for base in _MNIST)
    return RemoteFile(name=name, urls=urls, bytes=size, sha256=sha256, md5=md5)


def _adult(name: str, size: int, sha256: str) -> RemoteFile:
    return RemoteFile(name=name, urls=(f"{_UCI}/adult/{name}",), bytes=size, sha256=sha256)


def _cora(part: str, size: int, sha256: str) -> RemoteFile:
    name = f"ind.cora.{part}"
    return RemoteFile(name=name, urls=(f"{_PLANETOID}/{name}",), bytes=size, sha256=sha256)


_TABLE = (
    Dataset(
        name="mnist",
        title="MNIST handwritten digits",
        source="official",
        licence="no licence file; commonly stated as CC BY-SA 3.0",
        citation="LeCun, Bottou, Bengio, Haffner. Gradient-based learning applied to document "
        "recognition. Proc. IEEE 86(11), 1998",
        rows={"train": 60_000, "test": 10_000},
        files=(
            _mnist(
                "train-images-idx3-ubyte.gz",
                9912422,
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            ),
            _mnist(
                "train-labels-idx1-ubyte.gz",
                28881,
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                "d53e105ee54ea40749a09fcbcd1e9432",
            ),
            _mnist(
                "t10k-images-idx3-ubyte.gz",
                1648877,
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                "9fb629c4189551a2d022fa330f9573f3",
            ),
            _mnist(
                "t10k-labels-idx1-ubyte.gz",
                4542,
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                "ec29112dd5afa0611ce80d1b7f02629c",
            ),
        ),
    ),
    Dataset(
        name="cifar10",
        title="CIFAR-10 (python version)",
        source="official",
        licence="no licence stated",
        citation="Krizhevsky. Learning multiple layers of features from tiny images. 2009",
        rows={"train": 50_000, "test": 10_000},
        files=(
            RemoteFile(
                name="data_batch_1",
                bytes=31035704,
                sha256="54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd",
            ),
            RemoteFile(
                name="data_batch_2",
                bytes=31035320,
                sha256="766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8",
            ),
            RemoteFile(
                name="data_batch_3",
                bytes=31035999,
                sha256="0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9",
            ),
            RemoteFile(
                name="data_batch_4",
                bytes=31035696,
                sha256="3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b",
            ),
            RemoteFile(
                name="data_batch_5",
                bytes=31035623,
                sha256="d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154",
            ),
            RemoteFile(
                name="test_batch",
                bytes=31035526,
                sha256="f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831",
            ),
            RemoteFile(
                name="batches.meta",
                bytes=158,
                sha256="f962466ef690d46b226450fb9aadc74ba4bc64a76aa526b5827fe4bc5c7125cb",
            ),
        ),
        archive=RemoteFile(
            name="cifar-10-python.tar.gz",
            urls=("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),
            bytes=170498071,
            sha256="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
            md5="c58f30108f718f92721af3b95e74349a",
        ),
    ),
    Dataset(
        name="imdb",
        title="Large Movie Review Data set (IMDB), the 50,000 labelled reviews",
        source="official",
        licence="no licence stated",
        citation="Maas, Daly, Pham, Huang, Ng, Potts. Learning word vectors for sentiment "
        "analysis. ACL 2011",
        rows={"train": 25_000, "test": 25_000},
        files=(
            RemoteFile(
                name="aclImdb_v1.tar.gz",
                urls=("https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",),
                bytes=84125825,
                sha256="c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
                md5="7c2ac02c03563afcf9b574c7e56c153a",
            ),
        ),
        # The labelled reviews without the unlabelled ones and the bag-of-words files. That its
        # reviews are the official ones is known from their counts, total sizes and a second
        # copy, not from a published checksum.
        repack=RemoteFile(
            name="aclImdb_v1_labeled.tar",
            bytes=108206080,
            sha256="ff8464a8086e80ccc096a156d9c952575083c17bc395af697eb0f428dbb08734",
        ),
    ),
    Dataset(
        name="adult",
        title="Adult (census income)",
        source="official",
        licence="CC BY 4.0",
        citation="Becker, Kohavi. Adult. UCI Machine Learning Repository, 1996. "
        "doi:10.24432/C5XW20",
        rows={"train": 32_561, "test": 16_281},
        files=(
            _adult(
                "adult.data",
                3974305,
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            ),
            _adult(
                "adult.test",
                2003153,
                "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            ),
            _adult(
                "adult.names",
                5229,
                "c248284c0b5de30c9e1958d6cdd168a34a654758b620e68f46aefa83fc0a576a",
            ),
        ),
        archive=RemoteFile(name="adult.zip", urls=(f"{_UCI_ZIP}/2/adult.zip",)),
    ),
    Dataset(
        name="uber",
        title="Uber pickups in New York City, April 2014",
        source="official",
        licence="no licence stated; public record released by NYC TLC to FiveThirtyEight",
        citation="FiveThirtyEight. Uber TLC FOIL response, 2015. "
        "https://github.com/fivethirtyeight/uber-tlc-foil-response",
        rows={"pickups": 564_516},
        files=(
            RemoteFile(
                name="uber-raw-data-apr14.csv",
                urls=(
                    "https://raw.githubusercontent.com/fivethirtyeight/uber-tlc-foil-response"
                    "/master/uber-trip-data/uber-raw-data-apr14.csv",
                ),
                bytes=26110064,
                sha256="4c92b95b9918e73ae84bade0bffef6e758e792c247469523130d3c1ad7b646e0",
            ),
        ),
    ),
    Dataset(
        name="swarm",
        title="Swarm Behaviour (boids: aligned, flocking, grouped)",
        source="official",
        licence="CC BY 4.0",
        citation="Abpeikar, Kasmarik, Barlow, Khan. Swarm Behaviour. UCI Machine Learning "
        "Repository, 2020. doi:10.24432/C5N02J",
        rows={"flocking": 24_016},
        # No published checksum, and not tried: whether the two addresses serve the same bytes
        # could not be checked. UCI's page counts 24,017 records with the header line.
        files=(
            RemoteFile(
                name="swarm_behaviour.zip",
                urls=(
                    f"{_UCI_ZIP}/524/swarm+behaviour.zip",
                    f"{_UCI}/00524/Swarm%20Behavior%20Data.zip",
                ),
            ),
        ),
    ),
    Dataset(
        name="liver_disorders",
        title="Liver Disorders (BUPA)",
        source="official",
        licence="CC BY 4.0",
        citation="Forsyth. Liver Disorders. UCI Machine Learning Repository, 1990. "
        "doi:10.24432/C54G67",
        rows={"records": 345},
        files=(
            RemoteFile(
                name="bupa.data",
                urls=(f"{_UCI}/liver-disorders/bupa.data",),
                bytes=7297,
                # Of a copy without its added header line; UCI publishes no checksum.
                sha256="a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92",
            ),
        ),
        archive=RemoteFile(
            name="liver+disorders.zip", urls=(f"{_UCI_ZIP}/60/liver+disorders.zip",)
        ),
    ),
    Dataset(
        name="movement_aal",
        title="Indoor User Movement Prediction from RSS data",
        source="official",
        licence="CC BY 4.0",
        citation="Bacciu, Barsocchi, Chessa, Gallicchio, Micheli. An experimental "
        "characterization of reservoir computing in ambient assisted living applications. "
        "Neural Computing and Applications 24, 2014",
        rows={"sequences": 314, "steps": 13_197},
        # UCI publishes no checksum of the zip.
        files=(RemoteFile(name="MovementAAL.zip", urls=(f"{_UCI}/00348/MovementAAL.zip",)),),
        # The csv and text files in a new tar; papers and picture left out.
        repack=RemoteFile(
            name="MovementAAL.tar",
            bytes=696320,
            sha256="acc85633bf0e3fa4a97a5f3a9606eec243e8c4fec3269d7d118496796fa3bf18",
        ),
    ),
    Dataset(
        name="cardiotocography",
        title="Cardiotocography (SisPorto)",
        source="official",
        licence="CC BY 4.0",
        citation="Ayres de Campos, Bernardes, Garrido, Marques-de-Sa, Pereira-Leite. SisPorto "
        "2.0: a program for automated analysis of cardiotocograms. J. Matern. Fetal Med. 9, 2000",
        rows={"records": 2_126},
        files=(
            RemoteFile(
                name="CTG.xls",
                urls=(f"{_UCI}/00193/CTG.xls",),
                bytes=1743872,
                sha256="d6aa62e82625e59f9d5b05bc8fc52af9ea67bdf2a23f1faca8511d5618fcb421",
            ),
        ),
        archive=RemoteFile(
            name="cardiotocography.zip", urls=(f"{_UCI_ZIP}/193/cardiotocography.zip",)
        ),
    ),
    Dataset(
        name="cora",
        title="Cora citation graph, planetoid split",
        source="official",
        licence="no data licence stated; the planetoid repository is MIT",
        citation="Sen et al. Collective classification in network data. AI Magazine 29(3), 2008; "
        "split: Yang, Cohen, Salakhutdinov. Revisiting semi-supervised learning with graph "
        "embeddings. ICML 2016",
        rows={"nodes": 2_708, "edges": 5_278, "train": 140, "validation": 500, "test": 1_000},
        files=(
            _cora("x", 22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
            _cora("y", 4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
            _cora("tx", 148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
            _cora("ty", 28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
            _cora(
                "allx", 257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"
            ),
            _cora(
                "ally", 47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"
            ),
            _cora(
                "graph", 59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"
            ),
            _cora(
                "test.index",
                5000,
                "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
            ),
        ),
    ),
    Dataset(
        name="location30",
        title="Location-30 (Foursquare check-ins, Bangkok)",
        source="official",
        licence="no licence stated",
        citation="Yang, Zhang, Qu. Participatory cultural mapping. ACM TIST 7(3), 2016; prepared "
        "by Shokri, Stronati, Song, Shmatikov. Membership inference attacks. S&P 2017",
        rows={"records": 5_010},
        files=(
            RemoteFile(
                name="dataset_location.tgz",
                urls=(f"{_SHOKRI}/dataset_location.tgz",),
                bytes=287293,
                sha256="927203f85a868f8ee17a0ded1dc61699efe602167beabe34fbf45b4b1de94b33",
            ),
        ),
    ),
    # No checksum of the next two archives is published; their inner layout and row counts are
    # those that public code reading them states, and could not be tried against the files.
    Dataset(
        name="purchase100",
        title="Purchase-100 (Kaggle acquire valued shoppers, 100 clusters)",
        source="official",
        licence="no licence stated",
        citation="Shokri, Stronati, Song, Shmatikov. Membership inference attacks against "
        "machine learning models. S&P 2017",
        rows={"records": 197_324},
        files=(
            RemoteFile(
                name="dataset_purchase.tgz",
                urls=(f"{_SHOKRI}/dataset_purchase.tgz", f"{_SHOKRI_OLD}/dataset_purchase.tgz"),
            ),
        ),
    ),
    Dataset(
        name="texas100",
        title="Texas-100 (Texas hospital stays, 100 procedures)",
        source="official",
        licence="no licence stated; source data under the Texas PUDF terms of use",
        citation="Shokri, Stronati, Song, Shmatikov. Membership inference attacks against "
        "machine learning models. S&P 2017",
        rows={"records": 67_330},
        files=(
            RemoteFile(
                name="dataset_texas.tgz",
                urls=(f"{_SHOKRI}/dataset_texas.tgz", f"{_SHOKRI_OLD}/dataset_texas.tgz"),
            ),
        ),
    ),
    Dataset(
        name="svhn",
        title="Street View House Numbers, cropped digits",
        source="official",
        licence="non-commercial use only",
        citation="Netzer, Wang, Coates, Bissacco, Wu, Ng. Reading digits in natural images with "
        "unsupervised feature learning. NIPS workshop 2011",
        rows={"train": 73_257, "test": 26_032},
        # The publisher gives no checksum; these are the ones that torchvision checks.
        files=(
            RemoteFile(
                name="train_32x32.mat",
                urls=(f"{_SVHN}/train_32x32.mat",),
                bytes=182040794,
                sha256="435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
                md5="e26dedcc434d2e4c54c9b2d4a06d8373",
            ),
            RemoteFile(
                name="test_32x32.mat",
                urls=(f"{_SVHN}/test_32x32.mat",),
                bytes=64275384,
                sha256="cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
                md5="eb5a983be6a315427106f1b164d9cef3",
            ),
        ),
    ),
    Dataset(
        name="darknet2020",
        title="CIC-Darknet2020 (Tor and VPN traffic)",
        source="official",
        licence="free for research on registration; cite the paper",
        citation="Habibi Lashkari, Kaur, Rahali. DIDarknet: a contemporary approach to detect "
        "and characterize the darknet traffic using deep image learning. ICCNS 2020",
        # The paper counts 158,616 flows; the published csv has 141,530.
        rows={"flows": 141_530},
        files=(RemoteFile(name="Darknet.CSV"),),
        manual="fill in the form at https://www.unb.ca/cic/datasets/darknet2020.html and take "
        "the csv file",
    ),
    Dataset(
        name="city",
        title="A simulated city of pickups",
        source="simulated",
        licence="that of this project",
        citation="this project: datasets/loaders/city.py",
        rows={},
    ),
    Dataset(
        name="diabetes",
        title="Diabetes",
        source="bundled",
        licence="none stated; carried by scikit-learn (BSD 3-clause)",
        citation="Efron, Hastie, Johnstone, Tibshirani. Least angle regression. Annals of "
        "Statistics 32(2), 2004",
        rows={"records": 442},
    ),
    Dataset(
        name="mobilenet_v2",
        title="MobileNetV2 of torchvision (IMAGENET1K_V1)",
        source="official",
        licence="BSD 3-Clause, that of torchvision; ImageNet has terms of its own",
        citation="Sandler, Howard, Zhu, Zhmoginov, Chen. MobileNetV2: inverted residuals and "
        "linear bottlenecks. CVPR 2018; weights by the torchvision maintainers",
        rows={"parameters": 3_504_872},
        files=(
            # PyTorch names its files by the first digits of their checksums.
            RemoteFile(
                name="mobilenet_v2-b0353104.pth",
                urls=("https://download.pytorch.org/models/mobilenet_v2-b0353104.pth",),
                sha256="b0353104",
            ),
        ),
    ),
    Dataset(
        name="wine",
        title="Wine",
        source="bundled",
        licence="CC BY 4.0",
        citation="Aeberhard, Forina. Wine. UCI Machine Learning Repository, 1992. "
        "doi:10.24432/C5PC7J",
        rows={"records": 178},
    ),
    Dataset(
        name="breast_cancer",
        title="Breast Cancer Wisconsin (Diagnostic)",
        source="bundled",
        licence="CC BY 4.0",
        citation="Wolberg, Mangasarian, Street, Street. Breast Cancer Wisconsin (Diagnostic). "
        "UCI Machine Learning Repository, 1993. doi:10.24432/C5DW2B",
        rows={"records": 569},
    ),
    Dataset(
        name="boids",
        title="Simulated groups of boids, flocking or not",
        source="simulated",
        licence="that of this project",
        citation="this project: datasets/loaders/boids.py",
        rows={},
    ),
    Dataset(
        name="reviews",
        title="Simulated reviews, positive or negative",
        source="simulated",
        licence="that of this project",
        citation="this project: datasets/loaders/reviews.py",
        rows={},
    ),
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _TABLE}


def find(name: str) -> Dataset:
    """The entry called `name`; DataError naming the nearest ones if there is none."""
    if name in DATASETS:
        return DATASETS[name]
    near = difflib.get_close_matches(name, DATASETS, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(DATASETS)}"
    raise DataError(f"unknown data set {name!r}; {hint}")


def require_rows(name: str, **found: int) -> None:
    """DataError unless every part has the official number of rows."""
    expected = DATASETS[name].rows
    wrong = [
        f"{part}: found {count:,}, expected {expected[part]:,}"
        for part, count in found.items()
        if count != expected[part]
    ]
    if wrong:
        raise DataError(
            f"{name}: wrong number of records ({'; '.join(wrong)}). The file is not the official "
            f"one, or it changed at its publisher; delete it and fetch {name} again"
        )

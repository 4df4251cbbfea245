"""What hypothesis draws for several test files: trees, orders, numbers, and files gone wrong."""

import json
import math

import numpy as np
from helpers import ALL_JOINTS
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pivotree import kkt

SEEDS = st.integers(0, 2**32 - 1)
MODES = ("nearest", "zero", "up", "down")

# -- trees ----------------------------------------------------------------------------------------


@st.composite
def shapes(draw, most, roots=True):
    """Of every body its parent's index, -1 for the world; one root or several."""
    n = draw(st.integers(1, most))
    return [-1, *(draw(st.integers(-1 if roots else 0, k - 1)) for k in range(1, n))]


@st.composite
def trees(draw, most=6, joints=ALL_JOINTS):
    """Bodies of like masses on joints of these kinds, frames and axes in any direction."""
    shape = draw(shapes(most))
    kinds = [draw(st.sampled_from(joints.split("+"))) for _ in shape]
    rng, tree = np.random.default_rng(draw(SEEDS)), kkt.new_tree("drawn")
    for k, (up, kind) in enumerate(zip(shape, kinds, strict=True)):
        square = rng.normal(size=(3, 3))
        moment = square @ square.T + 0.2 * np.eye(3)
        axis = {"planar": (0.0, 0.0, 1.0), "universal": rng.normal(size=(2, 3))}
        body = {"mass": rng.uniform(0.5, 2.0), "com": 0.2 * rng.normal(size=3)}
        body["axis"] = axis.get(kind, rng.normal(size=3))
        body["inertia"] = 0.05 * (np.trace(moment) * np.eye(3) - moment)
        body["p"] = 0.3 * rng.normal(size=3)
        body["R"] = Rotation.random(random_state=int(rng.integers(1000))).as_matrix()
        kkt.add_body(tree, f"b{k}", None if up < 0 else f"b{up}", joint=kind, **body)
    return kkt.default_state(tree, rate=1.0, effort=1.0)


def reals(size=1e100):
    """Finite doubles, zeros of both signs and subnormals among them."""
    return st.floats(-size, size, allow_nan=False)


# -- orders ---------------------------------------------------------------------------------------

WHOLE = (("pdd",), ("f",), ("qdd",))
SPLIT = (("pdd",), ("qdd", "fJ"), ("fC",))


@st.composite
def brackets(draw, names, stages=WHOLE):
    """Feasible groups: a body's stages in their order, bodies interleaved, neighbours joined."""
    turns = draw(st.permutations([k for k in names for _ in stages]))
    rest = {k: iter(stages) for k in names}
    groups = []
    for k in turns:
        blocks = [(kind, k) for kind in next(rest[k])]
        if groups and draw(st.integers(0, 4)) < 2:
            groups[-1] += blocks
        else:
            groups.append(blocks)
    return groups


@st.composite
def scrambled(draw, names):
    """Blocks in any order, some joined to any group before them; feasible or not."""
    groups = []
    for block in draw(st.permutations([(kind, k) for k in names for (kind,) in WHOLE])):
        joined = draw(st.integers(-6, len(groups) - 1))
        if joined >= 0:
            groups[joined].append(block)
        else:
            groups.append([block])
    return groups


# -- formats --------------------------------------------------------------------------------------

FORMATS = st.builds("p{}e{}:{}".format, st.integers(2, 25), st.integers(2, 10), st.sampled_from(MODES))


@st.composite
def operands(draw, format, count):
    """Numbers of a format of p bits: a significand, a binade and a sign each; or a special one."""
    p = format.precision
    special = [0.0, -0.0, format.smallest, 2.0**format.emin, format.largest, math.nan]
    one = st.sampled_from([*special, *[math.inf] * format.infinite]) | st.builds(
        lambda m, e, sign: sign * math.ldexp(m, e - p + 1),
        st.integers(2 ** (p - 1), 2**p - 1),
        st.integers(format.emin, format.emax),
        st.sampled_from([1.0, -1.0]),
    )
    return np.array(draw(st.lists(one, min_size=count, max_size=count)))


# -- files gone wrong -----------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["\ud800", "\0", "a" * 2000, 10**400, -1e308, 5e-324]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@st.composite
def documents(draw, good, values=JSON):
    """A good JSON document with one to three values replaced, removed or doubled."""
    document = json.loads(json.dumps(good))
    for _ in range(draw(st.integers(1, 3))):
        owner, place = None, document
        while isinstance(place, dict | list) and place and draw(st.integers(0, 5)):
            keys = sorted(place) if isinstance(place, dict) else range(len(place))
            owner, key = place, draw(st.sampled_from(keys))
            place = owner[key]
        if owner is None:
            continue
        what = draw(st.sampled_from(["replace", "replace", "remove", "double"]))
        if what == "replace":
            owner[key] = draw(values)
        elif what == "remove":
            del owner[key]
        elif isinstance(owner, list):
            owner.append(place)
    return document


def changed(text):
    """A text with a few of its slices replaced."""
    letters = st.text(st.sampled_from('\0\x1b\ud800é<>="&;:,.-+e0 12\n\u202e{}[]'), max_size=4)
    edit = st.tuples(st.integers(0, len(text)), st.integers(0, 6), letters)

    def apply(edits):
        result = text
        for at, length, new in edits:
            result = result[:at] + new + result[at + length :]
        return result

    return st.lists(edit, min_size=1, max_size=4).map(apply)

"""The Lubich/Ascher KKT matrix of a tree of rigid bodies, and its elimination.

>>> from pivotree import kkt, orderings
>>> system = kkt.build(kkt.chain(3))          # equation (4): system.matrix, system.rhs
>>> kkt.eliminate(system, orderings.get("abm"), "float32").qdd
"""

from .arrays import tree_from_arrays
from .blocks import Block, BlockIndex, Structure
from .default_state import default_state
from .elimination.array_plans import leaf_to_root, plan_from_arrays
from .elimination.certify import Certified, certify
from .elimination.column_counts import ColumnCounts, column_counts
from .elimination.conditioning import Conditioning, conditioning
from .elimination.dissection import nested_dissection
from .elimination.eliminate import eliminate, joint_space_inertia
from .elimination.factored import factored
from .elimination.inverse_dynamics import InverseDynamics, inverse_dynamics
from .elimination.large import LargeSolution, solve_large
from .elimination.pivots import PivotSequence, Rules, plan
from .elimination.record import Elimination, Refinement, StepRecord
from .elimination.symbolic import SymbolicFactor, symbolic
from .elimination.trace import trace
from .errors import (
    CertificationError,
    FormatError,
    LoopError,
    ModelError,
    OrderError,
    PivotreeError,
    SingularError,
    SizeError,
)
from .frames import aligned, random_turns, tilted
from .gallery import (
    binary,
    chain,
    comb,
    example1,
    example2,
    example3,
    featherstone,
    random_tree,
    rr_arm,
    star,
    two_link,
)
from .gallery_robots import humanoid, quadruped
from .joining import joined, released, rerooted
from .large.kernel import LargeKernel, compile_large
from .loops import Loop, LoopWarning, contact, cut_joint
from .machine.kernel import Kernel, compile
from .model_writer import write_model
from .modelfile import read_model
from .models import load
from .robot_data import find_robot
from .specs import from_spec
from .state import State
from .system import System, build
from .tree import BodyTree, InertiaWarning, add_body, compile_tree, new_tree
from .urdf import MimicWarning, read_urdf

__all__ = [
    "Block",
    "BlockIndex",
    "BodyTree",
    "CertificationError",
    "Certified",
    "ColumnCounts",
    "Conditioning",
    "Elimination",
    "FormatError",
    "InertiaWarning",
    "InverseDynamics",
    "Kernel",
    "LargeKernel",
    "LargeSolution",
    "Loop",
    "LoopError",
    "LoopWarning",
    "MimicWarning",
    "ModelError",
    "OrderError",
    "PivotSequence",
    "PivotreeError",
    "Refinement",
    "Rules",
    "SingularError",
    "SizeError",
    "State",
    "StepRecord",
    "Structure",
    "SymbolicFactor",
    "System",
    "add_body",
    "aligned",
    "binary",
    "build",
    "certify",
    "chain",
    "column_counts",
    "comb",
    "compile",
    "compile_large",
    "compile_tree",
    "conditioning",
    "contact",
    "cut_joint",
    "default_state",
    "eliminate",
    "example1",
    "example2",
    "example3",
    "factored",
    "featherstone",
    "find_robot",
    "from_spec",
    "humanoid",
    "inverse_dynamics",
    "joined",
    "joint_space_inertia",
    "leaf_to_root",
    "load",
    "nested_dissection",
    "new_tree",
    "plan",
    "plan_from_arrays",
    "quadruped",
    "random_tree",
    "random_turns",
    "read_model",
    "read_urdf",
    "released",
    "rerooted",
    "rr_arm",
    "solve_large",
    "star",
    "symbolic",
    "tilted",
    "trace",
    "tree_from_arrays",
    "two_link",
    "write_model",
]

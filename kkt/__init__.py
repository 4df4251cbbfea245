"""The Lubich/Ascher KKT matrix of a tree of rigid bodies, and its elimination.

>>> from pivotree import kkt, orderings
>>> system = kkt.build(kkt.chain(3))  # equation (4): system.matrix, system.rhs
>>> kkt.eliminate(system, orderings.get("abm"), "float32").fill
2
"""

if __name__ == "kkt":  # not twice: its exceptions would be other classes
    raise ImportError("import pivotree.kkt")

from typing import TYPE_CHECKING

from .base.lazy import lazily

if TYPE_CHECKING:
    from .base.errors import (
        ArmatureError,
        CertificationError,
        FormatError,
        LoopError,
        ModelError,
        OrderError,
        PivotreeError,
        SingularError,
        SizeError,
    )
    from .machine.integer_c import export_fixed
    from .machine.kernel import Kernel, compile
    from .machine.to_jax import to_jax
    from .matrix.blocks import Block, BlockIndex, Structure
    from .matrix.frames import aligned, random_turns, tilted
    from .matrix.model_writer import write_model
    from .matrix.state import State
    from .matrix.system import System, build
    from .model.arrays import tree_from_arrays
    from .model.default_state import default_state
    from .model.gallery import (
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
    from .model.gallery_loops import delta, four_bar, gripper, stewart
    from .model.gallery_robots import humanoid, quadruped
    from .model.load import load
    from .model.loops import Loop, LoopWarning, contact, coupled_joints, cut_joint
    from .model.loops_file import read_loops
    from .model.mjcf import MjcfWarning, read_mjcf
    from .model.modelfile import read_model
    from .model.named import Named, named_models
    from .model.payload import Payload
    from .model.robot_data import find_robot
    from .model.specs import from_spec
    from .model.tree import BodyTree, InertiaWarning, add_body, compile_tree, new_tree
    from .model.urdf import MimicWarning, read_urdf
    from .model.urdf_dynamics import UrdfWarning
    from .order.array_plans import leaf_to_root, plan_from_arrays
    from .order.dissection import nested_dissection
    from .order.pivots import plan
    from .order.sequence import PivotSequence, Rules
    from .proof.accelerations import Accelerations, guarantee_qdd
    from .proof.certify import Certified, certify
    from .proof.fixed_point import FixedPoint, fixed_point
    from .proof.guarantee import Guarantee, guarantee
    from .scale.kernel import LargeKernel, compile_large
    from .scale.large import LargeSolution
    from .scale.solve_large import solve_large
    from .solution.columns import delassus_matrix, joint_space_inverse
    from .solution.conditioning import Conditioning, conditioning
    from .solution.derivatives import (
        Derivatives,
        adjoint_derivatives,
        derivatives,
        directional_derivatives,
        inertial_parameters,
    )
    from .solution.eliminate import eliminate, joint_space_inertia
    from .solution.inverse_dynamics import InverseDynamics, inverse_dynamics
    from .solution.joining import joined, released, rerooted
    from .solution.proximal import rigid, softened
    from .structure.column_counts import ColumnCounts, column_counts
    from .structure.symbolic import SymbolicFactor, symbolic
    from .tape.factored import factored
    from .tape.record import Columns, Elimination, Refinement, StepRecord
    from .tape.trace import trace

WHERE = {  # module -> the names that are loaded from it when they are first asked for
    "base.errors": (
        "ArmatureError CertificationError FormatError LoopError ModelError OrderError "
        "PivotreeError SingularError SizeError"
    ),
    "machine.integer_c": "export_fixed",
    "machine.kernel": "Kernel compile",
    "machine.to_jax": "to_jax",
    "matrix.blocks": "Block BlockIndex Structure",
    "matrix.frames": "aligned random_turns tilted",
    "matrix.model_writer": "write_model",
    "matrix.state": "State",
    "matrix.system": "System build",
    "model.arrays": "tree_from_arrays",
    "model.default_state": "default_state",
    "model.gallery": (
        "binary chain comb example1 example2 example3 featherstone random_tree rr_arm star two_link"
    ),
    "model.gallery_loops": "delta four_bar gripper stewart",
    "model.gallery_robots": "humanoid quadruped",
    "model.load": "load",
    "model.loops": "Loop LoopWarning contact coupled_joints cut_joint",
    "model.loops_file": "read_loops",
    "model.mjcf": "MjcfWarning read_mjcf",
    "model.modelfile": "read_model",
    "model.named": "Named named_models",
    "model.payload": "Payload",
    "model.robot_data": "find_robot",
    "model.specs": "from_spec",
    "model.tree": "BodyTree InertiaWarning add_body compile_tree new_tree",
    "model.urdf": "MimicWarning read_urdf",
    "model.urdf_dynamics": "UrdfWarning",
    "order.array_plans": "leaf_to_root plan_from_arrays",
    "order.dissection": "nested_dissection",
    "order.pivots": "plan",
    "order.sequence": "PivotSequence Rules",
    "proof.accelerations": "Accelerations guarantee_qdd",
    "proof.certify": "Certified certify",
    "proof.fixed_point": "FixedPoint fixed_point",
    "proof.guarantee": "Guarantee guarantee",
    "scale.kernel": "LargeKernel compile_large",
    "scale.large": "LargeSolution",
    "scale.solve_large": "solve_large",
    "solution.columns": "delassus_matrix joint_space_inverse",
    "solution.conditioning": "Conditioning conditioning",
    "solution.derivatives": (
        "Derivatives adjoint_derivatives derivatives directional_derivatives inertial_parameters"
    ),
    "solution.eliminate": "eliminate joint_space_inertia",
    "solution.inverse_dynamics": "InverseDynamics inverse_dynamics",
    "solution.joining": "joined released rerooted",
    "solution.proximal": "rigid softened",
    "structure.column_counts": "ColumnCounts column_counts",
    "structure.symbolic": "SymbolicFactor symbolic",
    "tape.factored": "factored",
    "tape.record": "Columns Elimination Refinement StepRecord",
    "tape.trace": "trace",
}

__all__ = [
    "Accelerations",
    "ArmatureError",
    "Block",
    "BlockIndex",
    "BodyTree",
    "CertificationError",
    "Certified",
    "ColumnCounts",
    "Columns",
    "Conditioning",
    "Derivatives",
    "Elimination",
    "FixedPoint",
    "FormatError",
    "Guarantee",
    "InertiaWarning",
    "InverseDynamics",
    "Kernel",
    "LargeKernel",
    "LargeSolution",
    "Loop",
    "LoopError",
    "LoopWarning",
    "MimicWarning",
    "MjcfWarning",
    "ModelError",
    "Named",
    "OrderError",
    "Payload",
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
    "UrdfWarning",
    "add_body",
    "adjoint_derivatives",
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
    "coupled_joints",
    "cut_joint",
    "default_state",
    "delassus_matrix",
    "delta",
    "derivatives",
    "directional_derivatives",
    "eliminate",
    "example1",
    "example2",
    "example3",
    "export_fixed",
    "factored",
    "featherstone",
    "find_robot",
    "fixed_point",
    "four_bar",
    "from_spec",
    "gripper",
    "guarantee",
    "guarantee_qdd",
    "humanoid",
    "inertial_parameters",
    "inverse_dynamics",
    "joined",
    "joint_space_inertia",
    "joint_space_inverse",
    "leaf_to_root",
    "load",
    "named_models",
    "nested_dissection",
    "new_tree",
    "plan",
    "plan_from_arrays",
    "quadruped",
    "random_tree",
    "random_turns",
    "read_loops",
    "read_mjcf",
    "read_model",
    "read_urdf",
    "released",
    "rerooted",
    "rigid",
    "rr_arm",
    "softened",
    "solve_large",
    "star",
    "stewart",
    "symbolic",
    "tilted",
    "to_jax",
    "trace",
    "tree_from_arrays",
    "two_link",
    "write_model",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazily(__name__, WHERE)

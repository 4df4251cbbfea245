"""Operations of Pinocchio's articulated-body algorithm on symbols, counted by casadi.

For an interpreter with cmeel-casadi-kin-dyn, whose numpy may be older than Pivotree's: nothing of
Pivotree is imported here.  ``python pinocchio_counts.py`` prints {n: {kind: operations}} as JSON.
"""

import json
import math

import casadi_kin_dyn.casadi_kin_dyn as kin_dyn  # before casadi, whose library it brings

# isort: split
import casadi

# analysis/counts/families.py: denavit_hartenberg
TWIST, ALONG, OFFSET = 0.7, 0.3, 0.2
INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
    '<inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0.1" iyz="0.1"/></inertial>'
)
KINDS = {
    casadi.OP_ADD: "add",
    casadi.OP_SUB: "add",
    casadi.OP_MUL: "mul",
    casadi.OP_SQ: "mul",
    casadi.OP_DIV: "div",
    casadi.OP_INV: "div",
    casadi.OP_SQRT: "sqrt",
}
FREE = (casadi.OP_CONST, casadi.OP_INPUT, casadi.OP_OUTPUT, casadi.OP_SIN, casadi.OP_COS)


def arm(n):
    """URDF of n revolute joints on Denavit-Hartenberg frames."""
    d = OFFSET * math.sin(TWIST), OFFSET * math.cos(TWIST)
    further = f'rpy="{TWIST} 0 0" xyz="{ALONG} {-d[0]!r} {d[1]!r}"'
    text = '<robot name="arm"><link name="0"/>'
    for k in range(1, n + 1):
        origin = 'rpy="0 0 0" xyz="0 0 0"' if k == 1 else further
        text += (
            f'<link name="{k}">{INERTIAL}</link><joint name="j{k}" type="revolute">'
            f'<origin {origin}/><parent link="{k - 1}"/><child link="{k}"/><axis xyz="0 0 1"/>'
            '<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        )
    return text + "</robot>"


def operations(n):
    """By kind, of aba; casadi folds zeros, ones and constants as the symbols are combined."""
    function = kin_dyn.CasadiKinDyn(arm(n)).aba()
    count = dict.fromkeys(("mul", "add", "div", "sqrt"), 0)
    for i in range(function.n_instructions()):
        kind = function.instruction_id(i)
        if kind not in FREE:
            count[KINDS[kind]] += 1  # a kind that is not known is an error
    return count


if __name__ == "__main__":
    print(json.dumps({n: operations(n) for n in (3, 4, 7, 20)}))

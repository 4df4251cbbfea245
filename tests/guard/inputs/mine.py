"""An order of one's own: every other body goes first."""


def odds_first(structure):
    bodies = structure.tip_to_base[::2] + structure.tip_to_base[1::2]
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in bodies]


def forgets_the_base(structure):
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base[:-1]]

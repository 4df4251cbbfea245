"""What docs/counts.md says beside its tables."""

from .words import wrapped

PICTURE = """<picture>
  <source media="(prefers-color-scheme: dark)" srcset="counts_dark.png">
  <img alt="Multiplications and additions against links, CRBM and ABM" src="counts.png">
</picture>"""

RESULT = """# Operation counts

"""

RESULT_TEXT = """
ABM is cheaper than CRBM from {first} links on: an arm of n links takes {abm} operations by ABM,
and a polynomial of degree three by CRBM. `gain_abm` takes fewer still. `square_root_abm`, which
loses the fewest digits in [the study](study/README.md), takes {rotations} times as many as ABM on
100 links. That ABM pays only beyond 9 or 11 links, as is often read, supposes a CRBM with composite
inertias of ten numbers and a bias from inverse dynamics.
"""

RESULT_NOTE = """
(`pivotree counts --family dh`: additions, multiplications and divisions from the entries of (4) to
qdd, on revolute joints in Denavit-Hartenberg frames, whatever the robot's numbers.)
"""

HEAD = """## What is counted

    pivotree counts [--orders a,b] [--family NAME] [--json]
    pivotree counts -o docs/counts.md            # writes this page (make counts-page)

""" + wrapped(
    """
What an order costs, as polynomials with exact coefficients. They are fitted to counted programs,
and where the program of n + 1 links is that of n links with one more segment of the same kind, they
are proved for all n. Two levels:

* *scalar counts*: operations on the tape of a family of robots, where products with zero or one
  and sums with zero are no operation. They are what a computer does.
* *block counts*: the same programs with every block of equation (4) full, on any tree, as
  polynomials in the freedoms N_k of the joints and the number of children.

Counted is the solution of (4) for qdd, from the entries M, Phi, H, a, b, tau: what pdd or f alone
would need is left out. Additions include subtractions. Divisions stand apart, since `abm` divides
every entry of an outer product ((c c\\*)/d) where `gain_abm` divides a column.
"""
)

KERNELS = """
From joint positions, rates and efforts to qdd, on the arms of the family `dh`: what
[`kkt.compile`](machine.md) makes of poses, bias and order together, zeros, ones and constants
folded and common subexpressions shared; fitted to the kernels of one to nine links, and not
proved. Sines and cosines, one of each a joint but the first, are left out; n = 7 is
multiplications + additions + divisions and roots.

`crbm + cholesky` takes its bias from inverse dynamics, as Featherstone's CRBM does. Pinocchio's
articulated-body algorithm was run on casadi's symbols (casadi_kin_dyn 1.6.14), on the same arms as
URDF, and gives the same qdd; its counts hold from n = 3. casadi folds zeros, ones and constants,
too; finding common subexpressions afterwards (`casadi.cse`) saves 2 % of the multiplications.
"""

PUBLISHED = """
Printed: {source}, for n revolute joints, bias included, divisions not told apart. Ours: the family
`dh`, whose Phi is kept in its four factors (a, alpha, d, q), each a frame without mass; the rows of
orders are the solution of (4) alone, and the last row is what comes before it, counted by running
`kkt.model.spatial` and `kkt.matrix.bias` on numbers that are zero, one, constant or anything (sines
and cosines not counted).

* ABM's slope: multiplications {mul}, additions {add} of the printed ones for the solution alone;
  {mul_all} and {add_all} with poses and bias, {all}. The printed counts are of code trimmed of
  redundant operations; nothing is trimmed here, and the right-hand side of a frame without mass
  costs 6 additions that a hand would leave out.
* CRBM's n^3 is the printed one, the triangular factor. Of its n^2 terms 3 and 3 are the right-hand
  side: every a_k meets the couplings of all joints beyond it, where a bias taken from inverse
  dynamics meets none. With a = 0 they are {still}, printed {squares}; a Cholesky factor, which
  scales its columns, takes n^2/2 multiplications more. The term in n is larger because a composite
  inertia is moved as any symmetric 6 x 6 block. A sum of rigid inertias is rigid, ten numbers, but
  that is an identity of values, which elimination on zeros and ones cannot see.
* Multiplied out to a 6 x 6 block (`dh_whole`), the same frames cost ABM {whole} multiplications.

The thesis prints no other method's counts. Yamane & Nakamura print none and leave them to future
work. They claim linear cost on chains, and on a star the square of the leaves at worst, linear once
links are split. Here `virtual_work` is linear on every chain and *cubic* on a star, {star}
multiplications for n leaves on ball joints, since the constraint forces of all leaves end up in one
dense block; `virtual_work_split` is linear, {split}.
"""

CROSSINGS = """## Where ABM overtakes CRBM

The root of the difference, and the first whole n from which CRBM costs more for good."""

CROSSED = wrapped(
    """
On structure alone ABM is the cheaper one from two to five links on. CRBM's known advantage on
short arms rests on the ten numbers of a rigid composite, and on a bias from inverse dynamics. On a
star CRBM stays the cheaper one: no joint has more than one other above it. On full binary trees
CRBM's count has no polynomial in n, the depth being log n; see the table.
"""
)

PROOF = wrapped(
    """
## What "proved" means

The elimination and the lowering are machines that read only what is near. A step is issued for the
blocks that exist, and an instruction costs what the zeros and ones of its operands say. So where a
step finds the blocks and patterns that the step before it found, relative to its own link, it does
the same and leaves the same behind, and by induction so do all that follow. Checked on the programs
themselves:

* *repeats*, linear counts on chains: between tip and base the instructions of a link, each
  operand given by links away, place in that link's segment, transposition and pattern, are the
  same list from link to link, at least three in a row; the programs of n and n + 1 links differ
  by one such segment; and the slope of the polynomial is what the segment costs.
* *grows*, other counts: instructions described without their place, by what made their operands
  and how near, make a multiset P(n). Its d-th difference must be the same for three n in a row,
  and all that it reads must be inputs or made within it. For CRBM d = 2: a link's segment grows
  by one template for each link beyond it. The factor at the end is left out of P(n): where its
  operands have no zero and no one, its loops give a polynomial of degree 3. On full binary trees
  what P(2n+1) has beyond twice P(n) must be the same three times. The polynomial is then the one
  through degree + 1 counts, and at least three more confirm it. This looks at less than *repeats*
  does: at what is done how often, near what and on which patterns, not at the place of each
  operand.

Below the n that this reaches every n was counted. The premise is read off the lines of an order,
not checked: that it goes on listing the blocks of further links as it does for the first nine. So
`minimum_degree`, a search, is called fitted, and a random order has no polynomial.
`constraint_force` and `divide_and_conquer` halve the chain: their counts depend on the binary
digits of n. Where n = 2^h - 1 they cost the same.
"""
)

BLOCKS = (
    wrapped(
        """
## Block counts

Every block full, symmetric results formed by half. On a tree the count is the sum over bodies of a
polynomial in
"""
    )
    + """

| | |
|---|---|
| N | N_k, freedoms of the body's joint, 1 to 5 |
| m | its children |
| C, Q | the sum of its children's freedoms, and of their squares |
| d | its depth, the number of its ancestors: pairs of a body and one above it |
| A | the sum of its ancestors' freedoms |

"""
    + wrapped(
        """
and over roots, leaves, and lone bodies (roots without children) of what they cost beside that. What
an edge of the tree costs is charged to the parent, once a child. The coefficients are exact, from
random forests of up to seven bodies with mixed joints; a third of the forests take no part in the
fit and are met exactly. They are fitted, not proved.
"""
    )
)

BLOCK_CHAINS = wrapped(
    """
Of the following no such sum over bodies is found, because blocks of several joints grow together;
on a chain of n joints with N freedoms each:
"""
)

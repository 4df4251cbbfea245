"""Words of the help: what a model and a format may be, and examples of each command."""

MODEL_HELP = (
    "a .urdf, .xacro or MuJoCo .xml file, a pivotree-model .json file, robot:NAME, or a gallery "
    "name: chain:100, example3:m1=1e8,case=2, random_tree:n=50,seed=1, humanoid, four_bar "
    "(pivotree models: all of them); a .xacro file is a program, which xacro runs"
)
ORDER_HELP = "a name (pivotree orders), FILE.json, or FILE.py:FUNCTION, a program of yours, which is run"
FORMATS_HELP = (
    "float64, float32, tf32, bfloat16, float16, e5m2, e4m3, pBITS or pBITSeEXPONENT (to 25 bits), "
    "these but float64 also with :zero, :up, :down or :stochastic:SEED; mixed by role, as in "
    "float32+mul=bfloat16 (add, mul, div, sqrt, D, operands), or by body, as in "
    "float32@torso=float64; dd, exact, mp:DIGITS, ball:DIGITS"
)
FAMILIES_HELP = (
    "growing robots (dh): dh, dh_whole, revolute, planar, prismatic, spherical, "
    "floating, star, star_spherical, binary; dh+armature: with armature on every joint; "
    "dh+contact: a point of the last link held"
)
BLAME_FORMATS_HELP = "a floating-point format of at most 64 bits: float32, float64, bfloat16, p11"

OWN_ORDER = """

an order of your own, in a file mine.py (which is a program, and is run as one);
each inner list is eliminated together; here every other body goes first:
  def odds_first(structure):
      bodies = structure.tip_to_base[::2] + structure.tip_to_base[1::2]
      return [[("pdd", k), ("qdd", k), ("f", k)] for k in bodies]
then:
  pivotree compare chain:5 --orders mine.py:odds_first,abm,crbm"""

# a test parses them
EXAMPLES = {
    "compare": (
        "compare chain:100",
        "compare robot.urdf --orders crbm,abm --q shoulder=0.3,elbow=-1.2",
        "compare robot.urdf --states 20",
        "compare robot.urdf --derivatives --states 20",
        "compare robot.urdf --orders mine.py:my_order,abm -o figures",
    ),
    "solve": (
        "solve chain:3 --q -0.3,1,0.5",
        "solve robot.urdf --order crbm --format float32",
        "solve chain:100 --certify 50",
    ),
    "spy": ("spy chain:3 --order abm --step 1 -o step.png",),
    "figure": (
        "figure --list",
        "figure matrix chain:3 --width single -o matrix.pdf",
        "figure trees humanoid --orders abm -o trees.tex",
        "figure film chain:3 -o film.gif",
        "figure multipliers quadruped:feet=4 -o multipliers.pdf",
    ),
    "guarantee": (
        "guarantee robot:ur5",
        "guarantee robot.urdf --orders abm --payload gripper=0:5",
        "guarantee robot.urdf --digits 4 --by-body",
    ),
    "report": (
        "report robot.urdf",
        "report chain:6 --states 100 --digits 4 -o report",
        "report robot.urdf --derivatives --states 100",
    ),
    "blame": (
        "blame example3:m1=1e7.5,case=1",
        "blame robot.urdf --order abm --format bfloat16 --output wrist",
        "blame chain:12 --derivatives --output dq",
    ),
    "prove": ("prove", "prove --only 'equation (5)'"),
    "list": ("list chain:4 --order abm", "list robot.urdf --order crbm --latex -o crbm.tex"),
    "counts": ("counts --orders crbm,abm", "counts --family revolute --json"),
    "explore": ("explore chain:3", "explore robot.urdf -o page.html", "explore four_bar"),
    "simulate": (
        "simulate robot.urdf --seconds 2",
        "simulate two_link:r=0.0015 --state-type float32 --floor 1e-30",
        "simulate four_bar --format float64 --eps 1e-10 --integrator DOP853",
    ),
    "sweep": ("sweep study.toml", "sweep study.toml --jobs 8"),
    "export": ("export robot.urdf -o robot.c", "export robot.urdf --order crbm --format float32 -o robot.c"),
    "tune": ("tune robot.urdf", "tune robot.urdf --cost digits -o mine.json"),
    "reproduce": ("reproduce ascher1996", "reproduce ascher1996 --item table1"),
    "orders": ("orders", "orders --json"),
    "models": ("models", "models --json"),
}

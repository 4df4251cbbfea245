"""Examples that end the help of each command; a test parses them."""

EXAMPLES = {
    "compare": (
        "compare chain:100",
        "compare robot.urdf --orders crbm,abm --q shoulder=0.3,elbow=-1.2",
        "compare robot.urdf --states 20",
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
    ),
    "guarantee": (
        "guarantee robot:ur5",
        "guarantee robot.urdf --orders abm --formats float32",
    ),
    "report": (
        "report robot.urdf",
        "report chain:6 --states 100 --digits 4 -o report",
        "report chain:20 --armature --digits 4 --orders crbm,abm",
    ),
    "blame": (
        "blame example3:m1=1e7.5,case=1",
        "blame robot.urdf --order abm --format bfloat16 --output wrist",
    ),
    "prove": ("prove", "prove --only 'equation (5)'"),
    "list": ("list chain:4 --order abm", "list robot.urdf --order crbm --latex -o crbm.tex"),
    "counts": ("counts --orders crbm,abm", "counts --family revolute --json"),
    "explore": ("explore chain:3", "explore robot.urdf -o page.html"),
    "simulate": (
        "simulate robot.urdf --seconds 2",
        "simulate two_link:r=0.0015 --state-type float32 --floor 1e-30",
    ),
    "sweep": ("sweep study.toml", "sweep study.toml --jobs 8"),
    "export": (
        "export robot.urdf -o robot.c",
        "export robot.urdf --order crbm --format float32 -o robot.c",
    ),
    "tune": ("tune robot.urdf", "tune robot.urdf --cost digits -o mine.json"),
    "reproduce": ("reproduce ascher1996", "reproduce ascher1996 --item table1"),
    "orders": ("orders", "orders --json"),
}

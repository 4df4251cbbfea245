// What the scenes say.  {pdd} is a letter to point at, {pdd=} the letter with its meaning, from the one
// table of symbols; the numbers of the sliders are read off the model.

export const SCENES = [
  {
    title: "Three sliders, nine equations",
    lesson: ["1_matrix", "Lesson 1"],
    text: [
      "Equations are solved by eliminating one unknown after another. On paper any order gives the same answer; the work differs, and the digits that a computer keeps.",
      "Slider 1 rides on slider 2, that one on 3, and 3 on a rail. Each has three unknowns: {pdd=}; {qdd=}; {f=}. It brings three equations, a row each.",
    ],
    ask: "Point at slider 2: which equations does it share with its neighbours? Then click a number on the diagonal, and it goes.",
  },
  {
    title: "Eliminate one, and others meet",
    lesson: ["2_fill", "Lesson 2"],
    text: [
      "To eliminate an unknown, its equation is solved for it and put into all others that hold it. Whoever met the pivot meets each other from then on. Where nothing stood, a number appears: that is fill.",
      "Point at a number on the diagonal. Dashed cells would be filled, and each cell shows what it becomes; a click does exactly that.",
    ],
    ask: "Point at {pdd} of the slider in the middle, on the diagonal.",
  },
  {
    title: "Together, as a bracket, pairs first",
    lesson: ["3_brackets", "Lesson 3"],
    text: [
      "{pdd} alone divides by a mass, and fractions appear. With {f} it is a pair through the 1 beside the diagonal, [m 1; 1 0], whose inverse is [0 1; 1 −m]: nothing is divided. And {f} and {qdd}, zero on the diagonal, could not be first at all.",
      "So pairs go first, then {qdd}: the bracket ({pdd} {qdd} {f}). Its own system is solved, then the result meets the rest. Click a 1 beside the diagonal, or a slider for its bracket.",
    ],
    ask: "Click {pdd} of slider 1 on the diagonal. Undo, and click the 1 where it meets {f}.",
  },
  {
    title: "Find the order",
    lesson: ["5_orders", "Lesson 5"],
    text: [
      "Your turn. Eliminate all three sliders, a bracket each, and fill as few cells as you can.",
      "Six sequences are possible. One of them is the best-known fast algorithm of robotics.",
    ],
    ask: "Click a slider, or any of its rows.",
    hints: [
      "Fill comes where two unknowns that both meet the pivot did not meet before. Whom does a slider meet?",
      "A slider that meets one other alone couples no two of them. Which of them are that, now?",
      "Two sequences may fill alike and still be two eliminations: watch whom each bracket meets, and what it costs with rigid bodies.",
    ],
  },
  {
    title: "Where digits vanish",
    lesson: ["4_digits", "Lesson 4"],
    text: [
      "A light slider of 1 kg, and on it one of 100,000 tonnes that slides along the same line. In float32 a number has 7 digits; those that it loses are struck out.",
      "CRBM adds the masses first, then takes the heavy one away again. ABM takes it away before it is added. Run both.",
    ],
    ask: "On paper the last pivot, {qdd} of slider 2, is 1 either way.",
  },
  {
    title: "Make them rigid bodies",
    text: [
      "A rigid body turns and moves in space: {pdd} and {f} have six numbers each, first three that turn. Each cell fattens to its block; what was a division is now the inverse of one.",
      "Which blocks meet has not changed, so fill is the same and so are the orders. What they cost has: click the sliders in your sequence, and in another.",
    ],
    ask: "Press the switch.",
  },
  {
    title: "Your robot",
    text: [
      "These are the blocks of {model}: the same three rows a body, the same brackets. Point at one to read what it is.",
      "`pivotree explore robot.urdf -o page.html` writes this page for a robot of yours.",
    ],
    ask: "Click a link, or any of its rows: its bracket goes.",
  },
];
// The law that each kind of row states.
export const LAWS = [
  "Newton: mass times acceleration is what comes through its own joint, less what it hands on",
  "the motor: its force along the joint is given",
  "the joint: it moves as what carries it, and besides that along its joint",
];

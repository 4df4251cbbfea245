// Challenges: what to reach by hand, whether it is reached, and hints that say more and more.  No two
// of them are met by the same steps, and an order that is only replayed meets none.

import { LAM, QDD } from "./graph.mjs";

export function challengesOf(data) {
  const of = (name) => data.orders.find((order) => order.name === name);
  const [abm, crbm] = [of("abm"), of("crbm")];
  const result = [];
  if (abm)
    result.push({
      title: `Reach ABM's fill: ${abm.fill} block${abm.fill === 1 ? "" : "s"}`,
      state: filling(abm.fill),
      hints: [
        "A pivot fills in among its neighbours: take blocks that few others touch.",
        "A body at a tip has one neighbour, its parent. What does a body in the middle touch?",
        "Tip to base: (pdd f) of a body, then its qdd, before anything of its parent.",
      ],
    });
  if (crbm && abm && crbm.fill > abm.fill)
    result.push({
      title: `Keep all joints for last, as CRBM does: at most ${crbm.fill} blocks of fill`,
      state: (session) => {
        const { engine } = session;
        const kinds = engine.steps.map(({ members }) => members.map((b) => engine.graph.kind(b)));
        const first = kinds.findIndex((group) => group.includes(QDD));
        const early = first >= 0 && kinds.slice(first).some((group) => group.some((kind) => kind !== QDD && kind !== LAM));
        const text = early ? `step ${first + 1} took a joint too early` : `${engine.fill} filled`;
        const over = early || engine.fill > crbm.fill;
        return judged(session, !over, text, over);
      },
      hints: [
        "What is left when every pdd and f is gone? One row for each freedom of a joint.",
        "That matrix is the joint-space inertia. Get there by the pairs (pdd f), which are exact.",
        "Pairs (pdd f) from tip to base, then the joints in any sequence.",
      ],
    });
  const low = abm && [...data.orders].sort((a, b) => a.height - b.height)[0];
  if (low && low.height < abm.height && low.fill > abm.fill)
    result.push({
      title: `Let fewer pivots wait: height ${low.height}, where ABM has ${abm.height}`,
      state: (session) => {
        const { engine } = session;
        const { height } = engine;
        return judged(session, height <= low.height, `height ${height}`, height > low.height);
      },
      hints: [
        "The height is the longest path in the elimination tree, drawn beside the matrix.",
        "Pivots that share no neighbour need not wait for each other. Which blocks share none?",
        `Replay ${low.name} and watch its elimination tree grow in width.`,
      ],
    });
  const early = of("closed_early");
  if (early && abm && early.fill < abm.fill)
    result.push({
      title: `Close loops early: ${early.fill} blocks of fill, where ABM with λ last has ${abm.fill}`,
      state: filling(early.fill),
      hints: [
        "λ that waits is coupled to every body on the way to the base. How long must it wait?",
        "Its row is zero on the diagonal until joints of its loop are gone. Which is the last of them?",
        "Bodies from tip to base, (pdd qdd f) each; λ right after the body at which its loop closes.",
      ],
    });
  const wanted = whereLambdaStands(data) ?? digitsWanted(data);
  if (wanted) result.push(wanted);
  return result;
}

// Soft rows: λ condensed first into the bodies' inertias, or left for last; null where it is all one.
function whereLambdaStands(data) {
  const kept = (name) => data.orders.find((order) => order.name === name)?.formats?.float32;
  const [first, last] = [kept("lambda_first"), kept("crbm")];
  if (!first || last?.digits == null) return null;
  const before = first.failed ? 0 : (first.digits ?? 0);
  const least = Math.floor(last.digits - 0.3);
  if (least <= before + 1) return null;
  return {
    title: `Where does λ stand? Condensed first, CRBM keeps ${before.toFixed(1)} digits in float32: keep ${least}`,
    state: keeping(least, "float32", ({ graph, gone }) => {
      const steps = graph.ties.map((_, c) => gone[LAM * graph.n + c]);
      return steps.every(Boolean) ? `λ went at steps ${Math.min(...steps)} to ${Math.max(...steps)}; ` : "λ is left; ";
    }),
    hints: [
      "A soft λ has minus its compliance c as a pivot and may go first. What does that add to its body?",
      "G* G / c: a ground of 1 / c kg. Look at the heat of that body's pdd: its own mass is rounded away.",
      "Leave λ for last. It then meets G M^-1 G* + c, in which nothing is large.",
    ],
  };
}

function judged(session, good, progress, hopeless) {
  if (!session.engine.done) return { done: false, text: hopeless ? `${progress}: too much, step back` : progress };
  if (session.replayed) return { done: false, text: `${progress}, but replayed: do it by hand` };
  return { done: good, text: `${good ? "done" : "not this time"}: ${progress}` };
}

// Few enough blocks are filled.
function filling(most) {
  return (session) => {
    const { fill } = session.engine;
    return judged(session, fill <= most, `${fill} filled`, fill > most);
  };
}

// Enough digits are kept in a format; ``where`` says what else counts in the order.
function keeping(least, format, where) {
  return (session) => {
    const { engine } = session;
    if (session.format !== format) return { done: false, text: `choose ${format} as the format` };
    const told = where(engine);
    if (!engine.done) return { done: false, text: `${told}eliminate all blocks to see the answer` };
    const answer = session.answer();
    if (!answer || answer.why) return { done: false, text: answer?.why ?? "no numbers for this order" };
    return judged(session, answer.digits >= least, `${told}${answer.digits.toFixed(1)} digits kept`, false);
  };
}

// The format in which the orders of this model differ most; null where they keep the same digits.
function digitsWanted(data) {
  let most = null;
  for (const format of Object.keys(data.exact ?? {})) {
    const kept = data.orders
      .map(({ name, formats }) => [name, formats?.[format]])
      .map(([name, found]) => ({ name, digits: found?.failed ? 0 : (found?.digits ?? null) }))
      .filter(({ name, digits }) => digits !== null && !/modified|projected|joseph|gain|root/.test(name))
      .sort((a, b) => a.digits - b.digits);
    if (kept.length < 2) continue;
    const gap = kept.at(-1).digits - kept[0].digits;
    if (gap >= 1 && gap > (most?.gap ?? 0)) most = { format, gap, worst: kept[0], best: kept.at(-1) };
  }
  if (!most) return null;
  const { format, worst, best } = most;
  const least = Math.floor(best.digits - 0.3);
  if (least <= worst.digits) return null;
  return {
    title: `Keep ${least} digits in ${format}, where ${worst.name} keeps ${worst.digits.toFixed(1)}`,
    state: keeping(least, format, () => ""),
    hints: [
      "Look at the heat: the block that turns first shows where digits go.",
      "Watch pdd of the parent when a heavy child is added to it.",
      "Brackets (pdd qdd f) form D and the projection before Phi is met. Tip to base, as ABM does.",
    ],
  };
}

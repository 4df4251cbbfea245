// Challenges: what to reach, whether it is reached, and hints that say more and more.

import { curveOf } from "./session.mjs";

export function challengesOf(data) {
  const of = (name) => data.orders.find((order) => order.name === name);
  const [abm, crbm] = [of("abm"), of("crbm")];
  const result = [];
  if (abm)
    result.push({
      title: `Reach ABM's fill: ${abm.fill} block${abm.fill === 1 ? "" : "s"}`,
      state: ({ engine }) =>
        ended(engine, engine.fill <= abm.fill, `${engine.fill} filled so far`, engine.fill > abm.fill),
      hints: [
        "A pivot fills in among its neighbours: take blocks that few others touch.",
        "A body at a tip has one neighbour, its parent. What does a body in the middle touch?",
        "Tip to base: (pdd f) of a body, then its qdd, before anything of its parent.",
      ],
    });
  if (crbm) {
    const target = curveOf(data, crbm).at(-1).flops;
    result.push({
      title: `Beat CRBM's ${Math.round(target).toLocaleString("en")} operations`,
      state: ({ engine }) =>
        ended(
          engine,
          engine.flops < target,
          `${Math.round(engine.flops).toLocaleString("en")} so far`,
          engine.flops >= target,
        ),
      hints: [
        "Operations grow with the square of the rows that a pivot touches.",
        "CRBM leaves every qdd to the end, coupled with all joints above it.",
        "Eliminate qdd as soon as its body's pdd and f are gone.",
      ],
    });
  }
  if (data.entries) {
    result.push(
      digits("float16", 6, data, [
        "float16 has 11 bits: 3.3 decimal digits. A format cannot show 6 digits of an answer that is not exact in it.",
        "So no order reaches this, unless every qdd is a float16 number. Keep 3 digits here, or 6 in float32, below.",
      ]),
    );
    result.push(
      digits("float16", 3, data, [
        "Look at the heat: the block that turns first shows where digits go.",
        "Brackets (pdd qdd f) form D and the projection before Phi is met.",
      ]),
    );
    result.push(
      digits("float32", 6, data, [
        "Watch what happens to pdd of the parent when a heavy child is added.",
        "Tip to base in brackets, as ABM does.",
      ]),
    );
  }
  return result;
}

function ended(engine, good, progress, hopeless) {
  if (engine.done)
    return {
      done: good,
      text: good
        ? `done: ${progress.replace(" so far", "")}`
        : `not this time: ${progress.replace(" so far", "")}`,
    };
  return { done: false, text: hopeless ? `${progress}: too many, step back` : progress };
}

function digits(format, wanted, data, hints) {
  return {
    title: `Keep ${wanted} digits in ${format}`,
    format,
    state: ({ model, engine, format: now }) => {
      if (data.exact?.[format]?.why) return { done: false, text: `this model does not fit ${format}` };
      if (now !== format) return { done: false, text: `choose ${format} as the format` };
      if (!engine.done) return { done: false, text: "eliminate all blocks to see the answer" };
      const answer = model.answer();
      if (!answer || answer.why) return { done: false, text: answer?.why ?? "no numbers for this order" };
      const kept = answer.error === 0 ? Infinity : answer.error === null ? 0 : -Math.log10(answer.error);
      return {
        done: kept >= wanted,
        text: `${kept === Infinity ? "all" : Math.max(0, kept).toFixed(1)} digits kept`,
      };
    },
    hints,
  };
}

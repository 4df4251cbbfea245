// Arrows, space and clicks build a slide step by step and turn it; PageUp and PageDown turn whole slides;
// N shows what the speaker says and the clock; Escape shows all slides; the address keeps the place.
const slides = [...document.querySelectorAll("section")];
const pieces = slides.map((slide) =>
  [...slide.children]
    .filter((child) => !child.matches("h1, h2, .place, .note"))
    .flatMap((child) => (child.matches("ol, ul") ? [...child.children] : [child])),
);
const minutes = slides.map((slide) => Number(slide.querySelector(".note")?.dataset.minutes ?? 0));
const begun = Date.now();
let at = Math.min(Math.max(parseInt(location.hash.slice(1)) || 1, 1), slides.length) - 1;
let built = pieces[at].length;
slides.forEach((slide) => slide.insertAdjacentHTML("beforeend", '<span class="clock"></span>'));
function show(k, part = Infinity) {
  at = Math.min(Math.max(k, 0), slides.length - 1);
  built = Math.min(Math.max(part, 1), Math.max(pieces[at].length, 1));
  slides.forEach((slide, i) => slide.classList.toggle("now", i === at));
  pieces[at].forEach((piece, i) => piece.classList.toggle("later", i >= built));
  const size = Math.min(innerWidth / 1280, innerHeight / 720);
  slides[at].style.transform = `scale(${size}) translate(-50%, -50%)`;
  history.replaceState(null, "", `#${at + 1}`);
  tell();
}
function tell() {
  const until = minutes.slice(0, at + 1).reduce((sum, x) => sum + x, 0);
  const gone = Math.floor((Date.now() - begun) / 60000);
  slides[at].querySelector(".clock").textContent = `${minutes[at]} min, until ${until} of ${minutes.reduce((sum, x) => sum + x, 0)}; ${gone} min gone`;
}
function step(by) {
  if (by > 0 && built >= pieces[at].length) at + 1 < slides.length && show(at + 1, 1);
  else if (by < 0 && built <= 1) at > 0 && show(at - 1);
  else show(at, built + by);
}
const keys = { ArrowRight: 1, ArrowDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1 };
addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.body.classList.toggle("shown");
  else if (event.key === "n" || event.key === "N") document.body.classList.toggle("speaking");
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (event.key === "PageDown") show(at + 1);
  else if (event.key === "PageUp") show(at - 1);
  else if (keys[event.key]) { event.preventDefault(); step(keys[event.key]); }
});
addEventListener("click", (event) => { if (!event.target.closest("a") && !getSelection().toString()) step(1); });
addEventListener("blur", () => setTimeout(() => { // a click into the live scene leaves the keys to the slides
  if (document.activeElement.matches("iframe")) { document.activeElement.blur(); focus(); }
}, 300));
addEventListener("resize", () => show(at, built));
setInterval(tell, 10000);
document.body.classList.toggle("shown", location.hash !== "#all"); // on paper each is laid out from the first
show(at);

// Arrows, space and clicks turn slides; Escape shows them all; the address keeps the place.
const slides = [...document.querySelectorAll("section")];
let at = Math.min(Math.max(parseInt(location.hash.slice(1)) || 1, 1), slides.length) - 1;
function show(k) {
  at = Math.min(Math.max(k, 0), slides.length - 1);
  slides.forEach((slide, i) => slide.classList.toggle("now", i === at));
  const size = Math.min(innerWidth / 1280, innerHeight / 720);
  slides[at].style.transform = `scale(${size}) translate(-50%, -50%)`;
  history.replaceState(null, "", `#${at + 1}`);
}
const keys = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.body.classList.toggle("shown");
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (keys[event.key]) { event.preventDefault(); show(at + keys[event.key]); }
});
addEventListener("click", (event) => { if (!event.target.closest("a") && !getSelection().toString()) show(at + 1); });
addEventListener("resize", () => show(at));
document.body.classList.add("shown");
show(at);

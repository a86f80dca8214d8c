// Put the drawings of one plan after the other into place; they are there, compressed.
(async () => {
  "use strict";
  const PAUSE = 700, byId = id => document.getElementById(id);
  const packed = Uint8Array.from(atob(byId("data").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { plans, marker } = JSON.parse(await new Response(stream).text());

  const markers = [...document.querySelectorAll("svg.chart")].map(svg => {
    const line = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
    for (const [name, value] of [["class", "marker"], ["y1", marker[0]], ["y2", marker[1]]]) line.setAttribute(name, value);
    return line;
  });

  const slider = byId("plan"), button = byId("play"), last = plans.length - 1;
  function show(index) {
    const at = Math.max(0, Math.min(last, index)), plan = plans[at];
    slider.value = at;
    slider.setAttribute("aria-valuetext", `plan ${plan.number}, from episode ${plan.episode}, value ${plan.value}`);
    for (const name of ["number", "episode", "value", "gap", "regret"]) byId(name).textContent = plan[name];
    for (const name of ["maps", "key"]) byId(name).innerHTML = plan[name];
    for (const line of markers) for (const end of ["x1", "x2"]) line.setAttribute(end, plan.x);
  }

  let timer = 0;
  function pause() { clearInterval(timer); timer = 0; button.textContent = "▶"; }
  function play() {
    if (+slider.value >= last) show(0);
    timer = setInterval(() => { +slider.value < last ? show(+slider.value + 1) : pause(); }, PAUSE);
    button.textContent = "❚❚";
  }
  const toggle = () => (timer ? pause() : play()), go = index => { pause(); show(index); };
  const forth = () => go(+slider.value + 1), back = () => go(+slider.value - 1), home = () => go(0), end = () => go(last);
  const keys = { " ": toggle, ArrowRight: forth, ArrowUp: forth, ArrowLeft: back, ArrowDown: back, Home: home, End: end };
  button.addEventListener("click", toggle);
  slider.addEventListener("input", () => go(+slider.value));
  document.addEventListener("keydown", event => {
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  show(0);
  last > 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches ? play() : pause();
  document.body.dataset.ready = "yes";
})();

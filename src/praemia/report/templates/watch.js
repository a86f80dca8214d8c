// Shade places and put actions into them, plan by plan. Painting is done: the map, the marks and the curves are there.
(async () => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg", PAUSE = 700;
  const byId = id => document.getElementById(id);

  const packed = Uint8Array.from(atob(byId("data").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = JSON.parse(await new Response(stream).text());
  const number = (text, i) => text.charCodeAt(i) - data.zero;

  const holder = document.querySelector(".panels"), [across, down] = holder.dataset.size.split(" ");
  const panels = data.states.map(state => {
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    const name = document.createElement("b"), steps = document.createElement("span");
    name.textContent = state;
    caption.append("machine state ", name, ", ", steps, " steps per episode");
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `-0.03 -0.03 ${+across + 0.06} ${+down + 0.06}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `the plan in machine state ${state}`);
    svg.innerHTML = data.map;
    figure.append(caption, svg);
    holder.append(figure);
    const layer = name => svg.querySelector(`.${name}`);
    return { steps, cells: layer("cells").children, actions: layer("actions"), losses: layer("losses"), drawn: [] };
  });

  // A mark in a place: of an action, or of a loss (mark 0).
  function mark(layer, place, which) {
    const item = document.createElementNS(SVG, "g"), [x, y] = data.places[place];
    item.setAttribute("transform", `translate(${x} ${y})`);
    item.innerHTML = data.marks[which];
    layer.append(item);
    return item;
  }

  function draw(panel, actions, levels) {
    for (let place = 0; place < panel.cells.length; place++) {
      const action = number(actions, place), level = number(levels, place);
      const before = panel.drawn[place];
      if (before && before.action === action && before.level === level) continue;
      before?.items.forEach(item => item.remove());
      const shade = level % data.levels, share = (shade - 1) / (data.levels - 2), items = [], cell = panel.cells[place];
      cell.classList.toggle("visited", shade > 0);
      cell.style.setProperty("--level", share);
      if (action > 0 && data.arrows) {
        const item = mark(panel.actions, place, action);
        item.classList.toggle("on-dark", share > 0.6);
        items.push(item);
      }
      if (level >= data.levels) items.push(mark(panel.losses, place, 0));
      panel.drawn[place] = { action, level, items };
    }
  }

  const markers = [...document.querySelectorAll("svg.chart")].map(svg => {
    const line = document.createElementNS(SVG, "line");
    line.setAttribute("class", "marker");
    line.setAttribute("y1", data.marker[0]);
    line.setAttribute("y2", data.marker[1]);
    svg.append(line);
    return line;
  });

  const slider = byId("plan"), last = data.plans.length - 1;
  function show(index) {
    const at = Math.max(0, Math.min(last, index)), plan = data.plans[at];
    slider.value = at;
    for (const name of ["number", "episode"]) byId(name).textContent = plan[name].toLocaleString("en");
    for (const name of ["value", "lacks", "regret", "darkest"]) byId(name).textContent = plan[name];
    slider.setAttribute("aria-valuetext", `plan ${plan.number}, from episode ${plan.episode}, value ${plan.value}`);
    panels.forEach((panel, i) => {
      panel.steps.textContent = plan.steps[i];
      draw(panel, plan.actions[i], plan.levels[i]);
    });
    markers.forEach(line => { line.setAttribute("x1", plan.x); line.setAttribute("x2", plan.x); });
  }

  const button = byId("play");
  let timer = 0;
  function pause() { clearInterval(timer); timer = 0; button.textContent = "▶"; }
  function play() {
    if (+slider.value >= last) show(0);
    timer = setInterval(() => { +slider.value < last ? show(+slider.value + 1) : pause(); }, PAUSE);
    button.textContent = "❚❚";
  }
  const toggle = () => (timer ? pause() : play());
  const go = index => { pause(); show(index); };

  button.addEventListener("click", toggle);
  slider.addEventListener("input", () => go(+slider.value));
  const keys = {
    " ": toggle, ArrowRight: () => go(+slider.value + 1), ArrowLeft: () => go(+slider.value - 1),
    ArrowUp: () => go(+slider.value + 1), ArrowDown: () => go(+slider.value - 1), Home: () => go(0), End: () => go(last),
  };
  document.addEventListener("keydown", event => {
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  // A drawing that was reduced to fit the page has its own size after a click.
  document.querySelector(".drawing")?.addEventListener("click", event => event.currentTarget.classList.toggle("large"));

  show(0);
  if (last > 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches) play();
  else pause();
  document.body.dataset.ready = "yes";
})();

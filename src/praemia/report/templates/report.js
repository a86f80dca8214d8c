"use strict";
// Buttons choose the axes of the charts beside them.
for (const button of document.querySelectorAll(".switch button")) {
  button.addEventListener("click", () => {
    button.closest(".scales").dataset.scale = button.dataset.scale;
    for (const other of button.parentElement.querySelectorAll("button")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
  });
}

// Names in a legend hide and show their learner in all plots of the section.
function show(key, visible) {
  key.setAttribute("aria-pressed", String(visible));
  for (const part of key.closest("[data-group]").querySelectorAll("[data-learner]")) {
    if (part.dataset.learner === key.dataset.key) part.classList.toggle("hidden", !visible);
  }
}
for (const key of document.querySelectorAll(".legend button")) {
  key.addEventListener("click", () => show(key, key.getAttribute("aria-pressed") !== "true"));
  key.addEventListener("dblclick", () => {
    for (const other of key.parentElement.querySelectorAll("button")) show(other, other === key);
  });
}

// A link into a folded part unfolds it.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}
window.addEventListener("hashchange", unfold);
unfold();

// The pointer reads values off a chart: its axes say how pixels become numbers.
const reading = document.createElement("div");
reading.className = "reading";
reading.hidden = true;
document.body.append(reading);
function scale(text, pixels) {
  const [kind, first, last] = text.split(" ");
  const ends = [first, last].map((end) => (kind === "log" ? Math.log(end) : Number(end)));
  return (place) => {
    const value = ends[0] + (place / pixels) * (ends[1] - ends[0]);
    return kind === "log" ? Math.exp(value) : value;
  };
}
function heightAt(line, x) {
  const points = line.points;
  for (let i = 1; i < points.numberOfItems; i++) {
    const [a, b] = [points.getItem(i - 1), points.getItem(i)];
    if (a.x <= x && x <= b.x) return a.y + ((x - a.x) / Math.max(b.x - a.x, 1e-9)) * (b.y - a.y);
  }
  return null;
}
function read(chart, event) {
  const [left, top, width, height] = chart.dataset.box.split(" ").map(Number);
  const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
  const x = place.x - left;
  const [across, up] = [scale(chart.dataset.x, width), scale(chart.dataset.y, height)];
  const values = [];
  for (const group of chart.querySelectorAll("g[data-learner]:not(.hidden)")) {
    const line = group.querySelector("polyline");
    const y = line && heightAt(line, place.x);
    if (y !== null) values.push([up(top + height - y), group.dataset.learner]);
  }
  values.sort((a, b) => b[0] - a[0]);
  const lines = values.map(([value, name]) => `${Number(value.toPrecision(3)).toLocaleString("en")}  ${name}`);
  reading.textContent = [`at ${Number(across(x).toPrecision(3)).toLocaleString("en")}`, ...lines].join("\n");
  reading.hidden = values.length === 0;
  const edge = Math.min(event.clientX + 14, innerWidth - reading.offsetWidth - 8);
  reading.style.left = `${Math.max(4, edge)}px`;
  reading.style.top = `${Math.min(event.clientY + 14, innerHeight - reading.offsetHeight - 8)}px`;
}
for (const chart of document.querySelectorAll("svg.chart")) {
  for (const kind of ["pointermove", "pointerdown"]) chart.addEventListener(kind, (event) => read(chart, event));
  chart.addEventListener("pointerleave", () => { reading.hidden = true; });
}

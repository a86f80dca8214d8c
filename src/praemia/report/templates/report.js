"use strict";
const PRINT_WIDTH = 690; // pixels of a sheet of paper between its margins

// Draw the curves whose data stand beside them, and let the buttons change their scale.
for (const place of document.querySelectorAll(".curves")) {
  const figure = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  // Named one by one: some versions add a button that sends the data to a server.
  const buttons = [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]];
  const options = { responsive: true, displaylogo: false, modeBarButtons: buttons };
  Plotly.newPlot(place, figure.data, figure.layout, options);
}
for (const button of document.querySelectorAll(".scale button")) {
  button.addEventListener("click", () => {
    const place = document.getElementById(button.parentElement.dataset.target);
    const change = {};
    for (const key of Object.keys(place.layout)) {
      if (/^[xy]axis[0-9]*$/.test(key)) {
        change[key + ".type"] = button.dataset.scale;
        change[key + ".autorange"] = true;
      }
    }
    Plotly.relayout(place, change);
    for (const other of button.parentElement.querySelectorAll("button")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
  });
}
// Curves are as wide as the window; a sheet of paper is narrower.
function resize(change) {
  for (const place of document.querySelectorAll(".curves")) {
    Plotly.relayout(place, change);
  }
}
window.addEventListener("beforeprint", () => resize({ width: PRINT_WIDTH, autosize: false }));
window.addEventListener("afterprint", () => resize({ width: null, autosize: true }));

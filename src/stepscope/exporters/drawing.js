"use strict";
// The page of a drawing: zoom, move, search, and what a box is joined to.
(() => {
  const svg = document.querySelector("#drawing svg");
  const boxes = [...svg.querySelectorAll("g")];
  const paths = [...svg.querySelectorAll("path")];
  const edges = JSON.parse(document.getElementById("edges").textContent);
  const names = boxes.map((box) => box.querySelector("title").textContent.toLowerCase());
  let [x, y, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const whole = [x, y, width, height];
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  const show = () => svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  const scale = () => Math.max(width / svg.clientWidth, height / svg.clientHeight);
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const at = svg.getBoundingClientRect();
    const fx = (event.clientX - at.left) / at.width;
    const fy = (event.clientY - at.top) / at.height;
    const by = Math.min(Math.max(Math.exp(event.deltaY / 400), 20 / width), (4 * whole[2]) / width);
    x += width * fx * (1 - by);
    y += height * fy * (1 - by);
    width *= by;
    height *= by;
    show();
  }, { passive: false });
  let held = null;
  svg.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; });
  window.addEventListener("pointerup", () => { held = null; });
  window.addEventListener("pointermove", (event) => {
    if (!held) return;
    const by = scale();
    x -= (event.clientX - held[0]) * by;
    y -= (event.clientY - held[1]) * by;
    held = [event.clientX, event.clientY];
    show();
  });
  const mark = (number) => {
    const near = new Set([number]);
    edges.forEach(([a, b], at) => {
      const on = number !== null && (a === number || b === number);
      if (on) { near.add(a); near.add(b); }
      paths[at].classList.toggle("near", on);
      paths[at].classList.toggle("dim", number !== null && !on);
    });
    boxes.forEach((box, at) => {
      box.classList.toggle("near", number !== null && near.has(at));
      box.classList.toggle("dim", number !== null && !near.has(at));
    });
  };
  boxes.forEach((box, at) => box.addEventListener("click", (event) => { event.stopPropagation(); mark(at); }));
  svg.addEventListener("dblclick", () => { [x, y, width, height] = whole; mark(null); show(); });
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    let first = null;
    let hits = 0;
    boxes.forEach((box, at) => {
      const hit = wanted !== "" && names[at].includes(wanted);
      box.classList.toggle("hit", hit);
      if (hit) { hits += 1; first = first ?? box; }
    });
    document.getElementById("found").textContent = wanted ? `${hits} found` : "";
    if (first) {
      const [bx, by] = first.getAttribute("transform").match(/-?[0-9.e+]+/g).map(Number);
      x = bx - width / 2;
      y = by - height / 2;
      show();
    }
  });
})();

// Makes tables sortable, folds long ones, and zooms into flame graphs. The page is complete without it.
"use strict";
const ROWS = 12;

function sort(table, column, button) {
  const cell = button.parentElement;
  const down = cell.getAttribute("aria-sort") !== "descending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  cell.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = (row) => row.cells[column].dataset.value;
  const compare = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined); // nothing goes last
    const order = cell.classList.contains("n") ? Number(x) - Number(y) : x < y ? -1 : x > y ? 1 : 0;
    return down ? -order : order;
  };
  const body = table.tBodies[0];
  const rows = [...body.rows].sort(compare);
  body.append(...rows);
  if (table.dataset.folded) fold(table);
}

function fold(table) {
  [...table.tBodies[0].rows].forEach((row, i) => row.classList.toggle("folded", i >= ROWS));
  table.dataset.folded = "yes";
}

for (const table of document.querySelectorAll("table:not(.tree)")) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => sort(table, column, button));
  });
  const rows = table.tBodies[0].rows.length;
  if (rows > ROWS + 3) {
    fold(table);
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    more.textContent = `all ${rows} rows`;
    more.addEventListener("click", () => {
      delete table.dataset.folded;
      for (const row of table.tBodies[0].rows) row.classList.remove("folded");
      more.remove();
    });
    table.parentElement.after(more);
  }
}

for (const flame of document.querySelectorAll("svg.flame")) {
  const zoomed = flame.querySelector(".zoomed");
  flame.addEventListener("click", (event) => {
    const box = event.target.closest(".zoomed > svg");
    const width = box && box !== flame.at ? parseFloat(box.getAttribute("width")) : 100;
    const left = width < 100 ? parseFloat(box.getAttribute("x")) : 0;
    flame.at = width < 100 ? box : null; // a second click shows all again
    zoomed.setAttribute("width", `${10000 / width}%`);
    zoomed.setAttribute("x", `${(-100 * left) / width}%`);
  });
}

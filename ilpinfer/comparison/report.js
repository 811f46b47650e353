"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const body = table.tBodies[0];
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const lines = [...body.rows].map(row => {
      const cell = row.cells[column];
      const number = "key" in cell.dataset ? Number(cell.dataset.key) : NaN;
      return { row, number, text: cell.textContent, missing: !cell.classList.contains("text") && isNaN(number) };
    });
    lines.sort((a, b) => a.missing - b.missing
      || sign * (isNaN(a.number) ? compare(a.text, b.text) : a.number - b.number) || 0);
    body.append(...lines.map(line => line.row));
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
  }));
}

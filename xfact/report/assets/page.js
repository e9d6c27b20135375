"use strict";
// Text of the data becomes text nodes and attributes only, never markup.

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; strings become text, null is no child. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

const collator = new Intl.Collator(undefined, { numeric: true });
const NUMBER = /^[<>≤≥~]?\s*([-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)/i;

/** What a cell is sorted by: numbers (rank 0) stand before words (1), and nothing (2) is last in both directions. */
function sortKey(cell, isNumber) {
  const text = cell.textContent.trim();
  if (text === "" || text === "-") return { rank: 2, value: 0, text: "" };
  const found = isNumber && NUMBER.exec(text);
  if (!found) return { rank: 1, value: 0, text };
  return { rank: 0, value: Number(found[1].replaceAll(",", "").replace("−", "-")), text };
}

/** Click after click: ascending, descending, the order given. */
function sortBy(table, header, given) {
  const next = { ascending: "descending", descending: "none" }[header.getAttribute("aria-sort")] ?? "ascending";
  for (const other of header.parentElement.cells) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", next);
  const sign = next === "descending" ? -1 : 1;
  const keyed = given.map((row) => [sortKey(row.cells[header.cellIndex], header.classList.contains("number")), row]);
  if (next !== "none") {
    keyed.sort(([a], [b]) => a.rank - b.rank || sign * (a.value - b.value || collator.compare(a.text, b.text)));
  }
  table.tBodies[0].append(...keyed.map(([, row]) => row));
}

for (const table of document.querySelectorAll(".wide > table")) {
  const given = [...table.tBodies[0].rows];
  for (const header of table.tHead.rows[0].cells) {
    header.setAttribute("aria-sort", "none");
    header.firstElementChild.addEventListener("click", () => sortBy(table, header, given));
  }
}

// A table as a file

// As xfact/io/files.py has them.
const PLAIN_NUMBER = /^(?:@NUMBER@)$/;
const FORMULA = /^@FORMULA@/;

/** A cell in quotes; what a spreadsheet would compute stands behind another quote, as in tables/. */
function csvCell(cell) {
  const text = cell.textContent;
  const safe = FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** Download the table as it stands, in the order in which it is sorted. */
function save(table) {
  const lines = [...table.rows].map((row) => [...row.cells].map(csvCell).join(","));
  const file = new Blob([`${lines.join("\n")}\n`], { type: "text/csv" });
  const name = table.getAttribute("aria-label").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const link = element("a", { href: URL.createObjectURL(file), download: `${name || "table"}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

for (const button of document.querySelectorAll("button.csv")) {
  button.addEventListener("click", () => save(button.parentElement.querySelector("table")));
}

/** A link to a table or figure opens its fold. */
function unfold() {
  const fold = byId(location.hash.slice(1));
  if (fold instanceof HTMLDetailsElement) fold.open = true;
}

addEventListener("hashchange", unfold);
unfold();

// On paper every fold is open, and afterwards as it was.
let closedFolds = [];
addEventListener("beforeprint", () => {
  closedFolds = [...document.querySelectorAll("details:not([open])")];
  for (const fold of closedFolds) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of closedFolds) fold.open = false;
});

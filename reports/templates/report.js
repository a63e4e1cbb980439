// Search, filters, links into closed parts, and copy buttons. Written without the characters that markup reserves: the page
// is well-formed XML.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const form = document.querySelector(".filters");
const { search, outcome, level, section, cause } = form.elements;
const selects = { outcome, level, section, cause };

const groups = all(".group").map((element) => ({
  element,
  cases: all(".case", element).map((entry) => {
    const rows = entry.dataset.rows.toLowerCase().split(" ");
    return {
      entry,
      rows,
      text: `${entry.firstElementChild.textContent} ${rows.join(" ")}`.toLowerCase(),
      outcome: [entry.classList[1]],
      level: [entry.dataset.level],
      section: [element.dataset.section],
      cause: entry.dataset.cause.split(" "),
    };
  }),
}));
const total = groups.reduce((sum, group) => sum + group.cases.length, 0);

// Shows the cases that fit. Sections open while a filter is set.
let wasSet = false;
const apply = () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = Object.entries(selects).filter(([, select]) => select.value !== "");
  const fits = (one) =>
    wanted.every(([name, select]) => one[name].includes(select.value)) ? words.every((word) => hasWord(one, word)) : false;
  const isSet = words.length + wanted.length > 0;
  let shown = 0;
  for (const { element, cases } of groups) {
    const fitting = new Set(cases.filter(fits));
    for (const one of cases) one.entry.hidden = !fitting.has(one);
    element.hidden = fitting.size === 0;
    if (isSet || wasSet) element.open = isSet;
    shown += fitting.size;
  }
  wasSet = isSet;
  form.querySelector("output").value = isSet ? `${shown} of ${total} cases` : `${total} cases`;
};
const hasWord = (one, word) => (word.startsWith("row:") ? one.rows.includes(word.slice(4)) : one.text.includes(word));

const clear = () => {
  for (const field of [search, ...Object.values(selects)]) field.value = "";
  apply();
};
form.querySelector("button").addEventListener("click", clear);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", apply);

// Opens what the address names, and everything around it.
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target === null) return;
  if (target.closest("[hidden]") !== null) clear();
  for (let around = target; around !== null; around = around.parentElement) {
    if (around.tagName === "DETAILS") around.open = true;
  }
  target.scrollIntoView();
};
window.addEventListener("hashchange", reveal);

// A number shows its cases. A link to the place where the reader is already changes no address.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.dataset.outcome === undefined) {
    if (link.hash === location.hash) reveal();
    return;
  }
  event.preventDefault();
  clear();
  search.value = link.dataset.row === undefined ? "" : `row:${link.dataset.row}`;
  outcome.value = link.dataset.outcome;
  apply();
  document.getElementById("cases").scrollIntoView();
  search.focus({ preventScroll: true });
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") clear();
  if (event.key !== "/" || event.target.closest("input, select") !== null) return;
  event.preventDefault();
  search.focus();
  form.scrollIntoView();
});

// A button in the heading of each command in an open part.
const addButtons = (part) => {
  for (const text of all("pre.command:not(.copied)", part)) {
    text.classList.add("copied");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = "selected: press Ctrl+C";
      }
    });
    text.previousElementSibling.append(" ", button);
  }
};
const opened = ({ target }) => {
  if (target.matches(".card, .case")) addButtons(target);
};
document.addEventListener("toggle", opened, true);

form.hidden = false;
apply();
reveal();

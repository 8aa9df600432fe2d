"use strict";
// Everything can be read without this script: it only finds and folds.
for (const tools of document.querySelectorAll("[data-tools]")) {
  const section = tools.parentElement;
  const output = tools.querySelector("output");
  const find = tools.querySelector("input");
  const select = tools.querySelector("select");
  const said = (values) => output.dataset.words.replace(/{(\w+)}/g, (all, name) => values[name]);
  tools.hidden = false;

  for (const button of tools.querySelectorAll("[data-fold]")) {
    button.addEventListener("click", () => {
      for (const part of section.querySelectorAll("details")) {
        if (!part.closest("[hidden]")) part.open = button.dataset.fold === "open";
      }
    });
  }

  const turns = () => {
    const words = find.value.trim().toLowerCase();
    let shown = 0, all = 0;
    for (const row of section.querySelectorAll("tr.turn")) {
      const more = row.nextElementSibling;
      const fits = (!select.value || row.dataset.kind === select.value) &&
        (!words || (row.textContent + " " + more.textContent).toLowerCase().includes(words));
      row.hidden = more.hidden = !fits;
      all += 1;
      shown += fits ? 1 : 0;
    }
    for (const body of section.querySelectorAll("tbody")) {
      body.hidden = !body.querySelector("tr.turn:not([hidden])");
    }
    output.textContent = words || select.value ? said({ shown, all }) : "";
  };

  const state = () => {
    const words = find.value.trim().toLowerCase();
    let found = 0;
    for (const item of section.querySelectorAll(".tree li")) {
      const own = item.querySelector(":scope > .key, :scope > details > summary .key");
      const value = item.querySelector(":scope > .value");
      const text = (own ? own.textContent : "") + " " + (value ? value.textContent : "");
      const fits = Boolean(words) && text.toLowerCase().includes(words);
      item.classList.toggle("found", fits);
      if (!fits) continue;
      found += 1;
      for (let up = item.parentElement.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
      if (found === 1) item.scrollIntoView({ block: "nearest" });
    }
    output.textContent = words ? said({ found }) : "";
  };

  const look = tools.dataset.tools === "turns" ? turns : state;
  let waiting = 0;
  find.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 150);
  });
  if (select) select.addEventListener("change", look);
}

// A bar of the timeline leads to its row, which must not be hidden then, and unfolds it.
const arrive = () => {
  const row = document.getElementById(location.hash.slice(1));
  if (!row || !row.classList.contains("turn")) return;
  row.hidden = row.nextElementSibling.hidden = row.parentElement.hidden = false;
  row.nextElementSibling.querySelector("details").open = true;
};
addEventListener("hashchange", arrive);
arrive();

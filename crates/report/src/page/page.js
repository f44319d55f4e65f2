// Search and sorting of the table; search, order and paging of the plots. Plots are stored as text and inserted while they are visible.
"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);

  // The table.
  const body = one("tbody");
  const rows = all("tr", body);
  const nameOf = (row) => row.cells[0].textContent;
  const found = () => {
    const wanted = one("#row-search").value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      row.hidden = !nameOf(row).toLowerCase().includes(wanted);
      count += row.hidden ? 0 : 1;
    }
    one("#row-count").textContent = `${count} of ${rows.length} rows`;
  };
  one("#row-search").addEventListener("input", found);
  found();

  const byName = new Intl.Collator(undefined, { numeric: true }).compare;
  const valueOf = (row, column) => Number.parseFloat(row.cells[column]?.textContent);
  const compare = (column, sign) => (a, b) => {
    if (column === 0) return sign * byName(nameOf(a), nameOf(b));
    const [x, y] = [valueOf(a, column), valueOf(b, column)];
    // Undefined values are last in both orders.
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return sign * (x - y);
  };
  const heads = all("thead th");
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      body.append(...[...rows].sort(compare(column, up ? 1 : -1)));
    });
  });

  // Downloads: the table with all digits, and figures as SVG in the colors of the page.
  const save = (text, type, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const table = one("#table-csv");
  if (table) {
    const button = one("#csv");
    button.hidden = false;
    button.addEventListener("click", () => save(JSON.parse(table.textContent), "text/csv", "summary.csv"));
  }
  const downloadable = (figure, prefix) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "svg";
    button.textContent = "SVG";
    button.title = "Save this figure";
    button.addEventListener("click", () => {
      const svg = figure.querySelector("svg");
      const style = getComputedStyle(document.documentElement);
      const text = new XMLSerializer().serializeToString(svg)
        .replace("<svg ", '<svg font-family="sans-serif" ')
        .replace(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
      const label = `${prefix} ${svg.getAttribute("aria-label")}`.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
      save(text, "image/svg+xml", `${label || "figure"}.svg`);
    });
    figure.append(button);
  };
  for (const figure of all("main figure")) downloadable(figure, figure.closest("section")?.id ?? "");

  // The plots.
  const parameters = all("script.plots");
  const shown = one("#shown");
  let page = 0;
  const number = (text, otherwise) => (text === "" ? otherwise : Number(text));
  const orders = {
    worst: (a, b) => number(b.dataset.worst, 0) - number(a.dataset.worst, 0),
    rhat: (a, b) => number(b.dataset.rhat, 0) - number(a.dataset.rhat, 0),
    ess: (a, b) => number(a.dataset.ess, Infinity) - number(b.dataset.ess, Infinity),
  };
  const article = (parameter) => {
    const element = document.createElement("article");
    const name = document.createElement("h3");
    const line = document.createElement("p");
    const plots = document.createElement("div");
    name.textContent = parameter.dataset.name;
    line.textContent = parameter.dataset.line;
    plots.className = "grid";
    plots.innerHTML = parameter.textContent;
    for (const figure of all("figure", plots)) downloadable(figure, parameter.dataset.name);
    for (const svg of all("svg", plots)) svg.setAttribute("aria-label", `${name.textContent}: ${svg.getAttribute("aria-label")}`);
    element.append(name, line, plots);
    return element;
  };
  const show = (everything = false) => {
    const wanted = one("#search").value.trim().toLowerCase();
    const order = orders[one("#order").value];
    const list = parameters.filter((parameter) => parameter.dataset.name.toLowerCase().includes(wanted));
    if (order) list.sort(order);
    const exact = (parameter) => parameter.dataset.name.toLowerCase() === wanted;
    list.sort((a, b) => exact(b) - exact(a));
    const size = everything ? Math.max(list.length, 1) : Number(one("#size").value);
    const pages = Math.max(1, Math.ceil(list.length / size));
    page = Math.min(Math.max(page, 0), pages - 1);
    const first = page * size;
    const visible = list.slice(first, first + size);
    shown.replaceChildren(...visible.map(article));
    const words = list.length === 0 ? "no parameter of that name" : `${first + 1}–${first + visible.length} of ${list.length}`;
    for (const output of all(".pager output")) output.textContent = words;
    for (const button of all(".pager button")) {
      const next = page + Number(button.dataset.step);
      button.disabled = next < 0 || next >= pages;
    }
  };
  const again = () => { page = 0; show(); };
  one("#search").addEventListener("input", again);
  one("#order").addEventListener("change", again);
  one("#size").addEventListener("change", again);
  for (const button of all(".pager button")) {
    button.addEventListener("click", () => {
      page += Number(button.dataset.step);
      show();
      one("#parameters").scrollIntoView();
    });
  }
  for (const link of all("a[data-show]")) {
    link.addEventListener("click", () => { one("#search").value = link.dataset.show; again(); });
  }
  // Printing shows all parameters that match the search.
  window.addEventListener("beforeprint", () => show(true));
  window.addEventListener("afterprint", () => show());
  show();
})();

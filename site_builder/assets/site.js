"use strict";
// Filters, sorting, charts and the theme. The address holds what the reader chose, so that a link
// shows the same and the back button goes one choice back. Without this script the pages have the
// same content.
(() => {
  const find = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const number = (text) => (text === undefined || text === "" || text === "nan" ? NaN : Number(text));

  // --- The address -------------------------------------------------------------------------------
  const state = () => new URLSearchParams(location.search);
  const restorers = [];
  // Choices make an entry of the history; typing does not.
  const choose = (changes, { typing = false } = {}) => {
    const chosen = state();
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === "") chosen.delete(name);
      else chosen.set(name, value);
    }
    const query = chosen.toString();
    const address = location.pathname + (query ? `?${query}` : "") + location.hash;
    if (typing) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  };
  const restore = () => {
    const chosen = state();
    for (const restorer of restorers) restorer(chosen);
  };

  // --- Theme -------------------------------------------------------------------------------------
  const root = document.documentElement;
  const isDark = () =>
    (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const themeSwitch = document.querySelector("[data-theme-switch]");
  const showTheme = () => {
    themeSwitch.textContent = isDark() ? "Light" : "Dark";
    themeSwitch.setAttribute("aria-label", `${themeSwitch.textContent} theme`);
  };
  themeSwitch.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    root.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* a browser that keeps nothing */ }
    choose({ theme });
    showTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  restorers.push((chosen) => {
    const theme = chosen.get("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    showTheme();
  });

  // --- The navigation, which a phone shows on demand ---------------------------------------------
  const menu = document.querySelector("[data-menu]");
  menu.addEventListener("click", () => {
    const open = menu.getAttribute("aria-expanded") !== "true";
    menu.setAttribute("aria-expanded", String(open));
    document.querySelector(".top nav").classList.toggle("open", open);
  });

  // --- Search, on a page of its own --------------------------------------------------------------
  const searchForm = document.querySelector("form[data-search]");
  searchForm.addEventListener("submit", (event) => {
    event.preventDefault();
    const words = searchForm.querySelector("input").value.trim();
    if (words) location.href = `${searchForm.dataset.search}?q=${encodeURIComponent(words)}`;
  });

  // --- Sortable tables, and their rows as CSV ----------------------------------------------------
  const tables = find("table[data-sortable]");
  const cellValue = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return NaN;
    if (cell.dataset.value !== undefined) return number(cell.dataset.value);
    const text = cell.textContent.trim();
    const plain = Number(text.replaceAll(",", "").replace("\u2212", "-"));
    return text !== "" && Number.isFinite(plain) ? plain : text === "\u2014" ? NaN : text.toLowerCase();
  };
  const compare = (one, other, sign) => {
    const missing = (value) => value === "" || Number.isNaN(value);
    if (missing(one) || missing(other)) return missing(one) - missing(other);
    if (typeof one === "number" && typeof other === "number") return sign * (one - other);
    return sign * String(one).localeCompare(String(other));
  };
  const original = new Map(tables.map((table) => [table, [...table.tBodies[0].rows]]));
  const preset = new Map(
    tables.map((table) => [table, find("thead th", table).map((head) => head.getAttribute("aria-sort"))])
  );
  // Controls and noise with a false claim stay at the end: they do not compete.
  const rank = (row) => 2 * row.classList.contains("control") + row.classList.contains("refuted");
  const sort = (table, column, direction) => {
    const sign = direction === "descending" ? -1 : 1;
    const rows = [...original.get(table)];
    rows.sort(
      (one, other) =>
        rank(one) - rank(other) || compare(cellValue(one, column), cellValue(other, column), sign)
    );
    table.tBodies[0].append(...rows);
    find("thead th", table).forEach((head, index) => {
      if (index === column) head.setAttribute("aria-sort", direction);
      else head.removeAttribute("aria-sort");
    });
  };
  const unsort = (table) => {
    table.tBodies[0].append(...original.get(table));
    find("thead th", table).forEach((head, index) => {
      const was = preset.get(table)[index];
      if (was) head.setAttribute("aria-sort", was);
      else head.removeAttribute("aria-sort");
    });
  };
  const csvOf = (table) => {
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const heads = find("thead th", table);
    // A score has an interval beside it, which gets two columns of its own.
    const wide = heads.map((_, column) => find("tbody tr", table).some((row) => row.cells[column]?.dataset.low));
    const lines = [
      heads.flatMap((head, column) => {
        const name = head.textContent.trim();
        return wide[column] ? [name, `${name} low`, `${name} high`] : [name];
      }),
    ];
    for (const row of table.tBodies[0].rows) {
      if (row.hidden) continue;
      lines.push(
        heads.flatMap((_, column) => {
          const cell = row.cells[column];
          const value = cell.dataset.value ?? cell.textContent.trim().replace(/\s+/g, " ");
          return wide[column] ? [value, cell.dataset.low ?? "", cell.dataset.high ?? ""] : [value];
        })
      );
    }
    return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  };
  const save = (name, type, text) => {
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  tables.forEach((table, index) => {
    find("thead th", table).forEach((head, column) => {
      const button = make("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
        sort(table, column, direction);
        choose({ sort: `${index}.${column}.${direction}` });
      });
    });
    const button = make("button", { type: "button", class: "button" }, "CSV of this table");
    const name = document.title.split(" · ")[0].replace(/[^A-Za-z0-9]+/g, "-").toLowerCase();
    button.addEventListener("click", () => save(`${name}-${index + 1}.csv`, "text/csv", csvOf(table)));
    table.closest(".scroll").after(make("p", { class: "get" }, button));
  });
  restorers.push((chosen) => {
    const [index, column, direction] = (chosen.get("sort") || "").split(".");
    const known = ["ascending", "descending"].includes(direction);
    tables.forEach((table, position) => {
      if (known && position === Number(index) && original.get(table)[0]?.cells[Number(column)]) {
        sort(table, Number(column), direction);
      } else unsort(table);
    });
  });

  // --- Filters -----------------------------------------------------------------------------------
  const option = (value, text = value) => make("option", { value }, text);
  for (const form of find("form[data-filter]")) {
    const items = find(form.dataset.filter);
    const groups = find("[data-group]");
    const group = (item) => item.closest("[data-group]");
    const texts = new Map(
      items.map((item) => [item, `${item.textContent} ${group(item)?.dataset.words ?? ""}`.toLowerCase()])
    );
    const counter = document.querySelector("[data-count]");
    const search = make("input", { type: "search", autocomplete: "off" });
    form.append(make("label", {}, "Search", search));
    const facets = (form.dataset.facets || "").split(" ").filter(Boolean).map((facet) => {
      const [name, title] = facet.split(":");
      const values = [...new Set(items.map((item) => item.dataset[name]))];
      // A value that names a group reads as that group does.
      const titleOf = (value) => groups.find((each) => each.id === value)?.dataset.title ?? value;
      const select = make("select", {}, option("", "all"), ...values.map((value) => option(value, titleOf(value))));
      form.append(make("label", {}, title, select));
      select.addEventListener("change", () => {
        choose({ [name]: select.value });
        show();
      });
      return { name, select };
    });
    const clear = make("button", { type: "button", class: "button" }, "Clear");
    form.append(clear);
    const show = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const item of items) {
        const kept =
          facets.every(({ name, select }) => !select.value || item.dataset[name] === select.value) &&
          words.every((word) => texts.get(item).includes(word));
        item.hidden = !kept;
        count += kept;
      }
      const chosen = words.length > 0 || facets.some(({ select }) => select.value);
      for (const each of groups) {
        each.hidden = !find(form.dataset.filter, each).some((item) => !item.hidden);
        each.open = chosen;
      }
      if (counter) counter.textContent = `${count} of ${items.length} ${counter.dataset.count}`;
    };
    search.addEventListener("input", () => {
      choose({ q: search.value }, { typing: true });
      show();
    });
    const reset = () => {
      search.value = "";
      for (const { select } of facets) select.value = "";
      choose(Object.fromEntries([["q", null], ...facets.map(({ name }) => [name, null])]));
      show();
    };
    clear.addEventListener("click", reset);
    form.addEventListener("submit", (event) => event.preventDefault());
    restorers.push((chosen) => {
      search.value = chosen.get("q") || "";
      for (const { name, select } of facets) {
        const value = chosen.get(name) || "";
        select.value = [...select.options].some((each) => each.value === value) ? value : "";
      }
      show();
      // A permanent link wins over filters that would hide it.
      const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (target && target.closest("[hidden]")) reset();
      if (target && group(target)) {
        group(target).open = true;
        target.scrollIntoView();
      }
    });
  }

  // --- Charts ------------------------------------------------------------------------------------
  const charts = new Map();
  const hiddenLabels = () => (state().get("hide") || "").split("|").filter(Boolean);
  const embed = async (name) => {
    const chart = charts.get(name);
    const spec = structuredClone(chart.spec);
    // Concurrent calls: the last one is drawn.
    const turn = (chart.turn = (chart.turn || 0) + 1);
    const place = make("div", { class: "place" });
    spec.width = "container";
    chart.plot.classList.add("live");
    chart.plot.replaceChildren(place);
    const result = await vegaEmbed(place, spec, {
      actions: false,
      renderer: "svg",
      ast: true,
      defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
    });
    if (turn !== chart.turn) return result.finalize();
    chart.view?.finalize();
    chart.view = result.view;
    place.querySelector("svg").setAttribute("aria-hidden", "true");
    await hide(chart);
    chart.plot.dataset.ready = "true";
  };
  const hide = async (chart) => {
    const labels = hiddenLabels();
    for (const item of chart.legend ? find("[data-label]", chart.legend) : []) {
      item.querySelector("button").setAttribute("aria-pressed", String(!labels.includes(item.dataset.label)));
    }
    if (chart.view) await chart.view.signal("hidden", labels).runAsync();
  };
  for (const script of find("script[data-spec]")) {
    const name = script.dataset.spec;
    const figure = script.closest("figure");
    charts.set(name, {
      spec: JSON.parse(script.textContent),
      plot: figure.querySelector(`[data-chart="${name}"]`),
      legend: figure.querySelector("[data-legend]"),
      figure,
    });
  }
  const makeLegend = (chart) => {
    for (const item of find("[data-label]", chart.legend)) {
      const button = make("button", { type: "button", "aria-pressed": "true" });
      button.append(...item.childNodes);
      item.append(button);
      button.addEventListener("click", () => {
        const labels = new Set(hiddenLabels());
        const label = item.dataset.label;
        if (labels.has(label)) labels.delete(label);
        else labels.add(label);
        choose({ hide: [...labels].join("|") });
        for (const each of charts.values()) hide(each);
      });
    }
  };
  for (const chart of charts.values()) if (chart.legend) makeLegend(chart);
  restorers.push(() => {
    for (const chart of charts.values()) hide(chart);
  });
  // A picture that stands alone has colours in place of the page's variables.
  for (const link of find("a[data-svg]")) {
    link.addEventListener("click", (event) => {
      const svg = charts.get(link.dataset.svg)?.plot.querySelector("svg");
      if (!svg) return;
      event.preventDefault();
      const copy = svg.cloneNode(true);
      const styles = getComputedStyle(root);
      const resolved = (colour) =>
        colour === "currentColor"
          ? getComputedStyle(document.body).color
          : colour.replace(/var\((--[\w-]+)\)/g, (_, name) => styles.getPropertyValue(name).trim());
      for (const element of [copy, ...find("*", copy)]) {
        for (const attribute of ["fill", "stroke"]) {
          const colour = element.getAttribute(attribute);
          if (colour) element.setAttribute(attribute, resolved(colour));
        }
      }
      const name = link.getAttribute("href").split("/").pop();
      save(name, "image/svg+xml", new XMLSerializer().serializeToString(copy));
    });
  }

  // --- Tables of the leaderboard: one at a time, with its charts ----------------------------------
  const rowsOf = (section) =>
    find("tbody tr", section).map((row) => ({
      label: row.dataset.label,
      colour: row.dataset.colour,
      symbol: row.dataset.symbol,
      control: row.classList.contains("control"),
      last: rank(row),
      scores: find("td", row).map((cell) => ({
        value: number(cell.dataset.value),
        low: number(cell.dataset.low ?? cell.dataset.value),
        high: number(cell.dataset.high ?? cell.dataset.value),
      })),
    }));
  const CHARTED = 24;
  const ROW_HEIGHT = 19;
  // On a phone a longer label than this has its last parenthesis on a second line.
  const LABEL_OF_A_PHONE = 20;
  const TWO_LINES = 28;
  const LAST = "lastindexof(datum.label, ' (')";
  const IN_TWO =
    `length(datum.label) > ${LABEL_OF_A_PHONE} && ${LAST} > 0 ? ` +
    `[slice(datum.label, 0, ${LAST}), slice(datum.label, ${LAST} + 1)] : datum.label`;
  const WIDE = 20;
  // A logarithmic axis for values that differ much; it has no place for zero.
  const setRows = (spec, rows, smaller) => {
    const positive = rows.map((row) => row.value).filter((value) => value > 0);
    const logarithmic =
      smaller && rows.every((row) => row.value >= 0) && Math.max(...positive) > WIDE * Math.min(...positive);
    const values = rows
      .filter((row) => !logarithmic || row.value > 0)
      .map((row) => ({ ...row, low: logarithmic && row.low <= 0 ? row.value : row.low }));
    spec.data.values = values;
    const first = Math.floor(Math.log10(Math.min(...values.map((row) => row.low))));
    const last = Math.ceil(Math.log10(Math.max(...values.map((row) => row.high))));
    const step = Math.max(1, Math.ceil((last - first) / 6));
    for (const layer of spec.layer) {
      for (const axis of ["x", "y"]) {
        const channel = layer.encoding[axis];
        if (["value", "low"].includes(channel.field)) {
          channel.scale = logarithmic ? { type: "log" } : { type: "linear", zero: false };
          channel.axis.grid = !logarithmic;
          delete channel.axis.values;
          if (logarithmic) {
            channel.axis.values = [];
            for (let n = step * Math.ceil(first / step); n <= last; n += step) channel.axis.values.push(10 ** n);
          }
        }
      }
    }
  };
  for (const form of find("form[data-views]")) {
    const sections = find("section.view");
    const facets = [
      ["dataset", "Data"],
      ["measure", "Measure"],
      ["choice", sections.find((section) => section.dataset.choiceTitle)?.dataset.choiceTitle || "Choice"],
      ["calibration", "Calibration"],
    ].map(([name, title]) => {
      const values = [...new Set(sections.map((section) => section.dataset[name]))].filter(Boolean);
      const select = make("select", {});
      const label = make("label", {}, title, select);
      if (values.length > 1) form.append(label);
      return { name, select, values };
    });
    const epsilonSelect = make("select", {});
    form.append(make("label", {}, "Epsilon", epsilonSelect));
    const title = document.querySelector("[data-chart-title]");
    const note = document.querySelector("[data-chart-note]");
    let shown = null;
    const draw = (section, epsilons, column) => {
      const smaller = section.dataset.better === "smaller";
      const rows = rowsOf(section);
      const sign = smaller ? 1 : -1;
      const placed = rows
        .filter((row) => !Number.isNaN(row.scores[column].value))
        .sort((one, other) => one.last - other.last || sign * (one.scores[column].value - other.scores[column].value));
      const best = placed.filter((row) => !row.control).slice(0, CHARTED);
      const kept = [...best, ...placed.filter((row) => row.control)];
      const ranking = charts.get("ranking");
      setRows(
        ranking.spec,
        kept.map(({ label, colour, symbol, scores }, rank) => ({ label, colour, symbol, rank, ...scores[column] })),
        smaller
      );
      const ranked = ranking.spec.data.values;
      const inTwo = innerWidth < 640 && ranked.some(({ label }) => label.length > LABEL_OF_A_PHONE);
      ranking.spec.height = (inTwo ? TWO_LINES : ROW_HEIGHT) * ranked.length;
      // The browser measures labels itself. Without its last words a name may be that of another row.
      const axis = { labelLimit: 280, minExtent: 0, ...(inTwo && { labelExpr: IN_TWO }) };
      for (const layer of ranking.spec.layer) Object.assign(layer.encoding.y.axis, axis);
      const words = `${section.querySelector("h2").textContent}, epsilon ${Number(epsilons[column])}`;
      title.textContent = words;
      const cut = placed.length > kept.length ? ` The best ${CHARTED} are drawn; the table has all.` : "";
      const blind = section.dataset.blind.split(" ").includes(epsilons[column]) ? " Nothing can be ranked here: the best is no better than an answer without data." : "";
      note.textContent =
        `${section.dataset.dataset}. ${smaller ? "Smaller" : "Larger"} is better. ` +
        `Lines are 95% intervals.${cut}${blind}`;
      ranking.plot.setAttribute("aria-label", words);
      const curvesTitle = document.querySelector("[data-curves-title]");
      if (curvesTitle) curvesTitle.textContent = `${section.querySelector("h2").textContent}, over epsilon`;
      embed("ranking");
      const curves = charts.get("curves");
      if (!curves) return;
      curves.figure.hidden = epsilons.length < 2;
      const drawn = [...rows.filter((row) => !row.control).slice(0, CHARTED), ...rows.filter((row) => row.control)];
      setRows(
        curves.spec,
        drawn.flatMap(({ label, colour, symbol, scores }) =>
          scores
            .map((score, index) => ({ label, colour, symbol, epsilon: Number(epsilons[index]), ...score }))
            .filter((score) => !Number.isNaN(score.value))
        ),
        smaller
      );
      for (const layer of curves.spec.layer) layer.encoding.x.axis && (layer.encoding.x.axis.values = epsilons.map(Number));
      curves.legend.replaceChildren(
        ...drawn.map(({ label, colour }) => {
          const item = make("li", { class: colour.replace(/var\(--(m-.*)\)/, "$1") }, make("span", { class: "swatch" }), label);
          item.dataset.label = label;
          return item;
        })
      );
      makeLegend(curves);
      if (epsilons.length > 1) embed("curves");
    };
    const show = (chosen) => {
      // Every choice narrows what the next one offers; what is not there falls back to the first.
      let left = sections;
      const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const linked = target && sections.includes(target) && !facets.some(({ name }) => chosen.has(name)) ? target : null;
      for (const { name, select, values } of facets) {
        const offered = values.filter((value) => left.some((section) => section.dataset[name] === value));
        const wanted = linked ? linked.dataset[name] : chosen.get(name);
        const value = offered.includes(wanted) ? wanted : offered[0];
        select.replaceChildren(...offered.map((each) => option(each)));
        if (value !== undefined) {
          select.value = value;
          left = left.filter((section) => section.dataset[name] === value);
        }
        select.closest("label").hidden = offered.length < 2 && values.length > 1;
      }
      const section = left[0];
      for (const each of sections) each.hidden = each !== section;
      const heads = find("thead th[data-epsilon]", section);
      const epsilons = heads.map((head) => head.dataset.epsilon);
      const wanted = chosen.get("epsilon");
      const epsilon = epsilons.includes(wanted) ? wanted : section.dataset.main;
      epsilonSelect.replaceChildren(...epsilons.map((each) => option(each, String(Number(each)))));
      epsilonSelect.value = epsilon;
      const column = epsilons.indexOf(epsilon);
      for (const row of find("tr", section)) {
        [...row.cells].forEach((cell, index) => cell.classList.toggle("main", index === column + 1));
      }
      if (!chosen.get("sort")) {
        sort(section.querySelector("table"), column + 1, section.dataset.better === "smaller" ? "ascending" : "descending");
      }
      const key = `${section.id} ${epsilon}`;
      if (key !== shown) draw(section, epsilons, column);
      shown = key;
    };
    for (const { name, select } of facets) {
      select.addEventListener("change", () => {
        // A choice replaces the table that a link named.
        const chosen = Object.fromEntries(facets.map((each) => [each.name, each.select.value || null]));
        choose({ ...chosen, [name]: select.value, sort: null });
        show(state());
      });
    }
    epsilonSelect.addEventListener("change", () => {
      choose({ epsilon: epsilonSelect.value, sort: null });
      show(state());
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    restorers.push(show);
  }
  if (!find("form[data-views]").length) for (const name of charts.keys()) embed(name);

  addEventListener("popstate", restore);
  addEventListener("hashchange", restore);
  restore();
})();

"use strict";
// Filters, sorting and the theme. The address stores the reader's choices, so that a link shows
// the same view and the back button undoes one choice. The pages have the same content without
// this script.
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
  // Choices create history entries; typing does not.
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
    try { localStorage.setItem("theme", theme); } catch { /* the browser blocks storage */ }
    choose({ theme });
    showTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  restorers.push((chosen) => {
    const theme = chosen.get("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    showTheme();
  });

  // --- The navigation, which phones show on demand -----------------------------------------------
  const menu = document.querySelector("[data-menu]");
  menu.addEventListener("click", () => {
    const open = menu.getAttribute("aria-expanded") !== "true";
    menu.setAttribute("aria-expanded", String(open));
    document.querySelector(".top nav").classList.toggle("open", open);
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
    // The interval of a score becomes two columns of its own.
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
      // A value that names a group is shown with the group's title.
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

  // --- Tables of the leaderboard: one at a time --------------------------------------------------
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
    const show = (chosen) => {
      // Each choice narrows the options of the next; a missing value falls back to the first.
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
    };
    for (const { name, select } of facets) {
      select.addEventListener("change", () => {
        // A choice overrides the table that the link named.
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

  addEventListener("popstate", restore);
  addEventListener("hashchange", restore);
  restore();
})();

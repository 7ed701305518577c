"use strict";
// The form of the advisor, its answer, and two mechanisms side by side. The address holds the
// question.
(() => {
  const find = (selector) => document.querySelector(selector);
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const facts = JSON.parse(find("[data-facts]").textContent);
  const form = find("form[data-advisor]");
  const sides = form.dataset.advisor === "sides";
  const fields = ["shape", "l2", "l1", "linf", "epsilon", "delta", ...(sides ? ["one", "other"] : [])];
  const preset = Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));

  // --- Words -------------------------------------------------------------------------------------
  // As words.py writes numbers: powers of ten for large and small ones.
  const number = (value, digits = 4) => {
    if (value === Infinity) return "∞";
    if (!Number.isFinite(value)) return "—";
    const size = Math.abs(value);
    if (value === 0 || (size >= 1e-3 && size < 1e5))
      return Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    const shown = make("span", {}, Number(mantissa) === 1 ? "10" : `${Number(mantissa)} × 10`);
    shown.append(make("sup", {}, String(Number(power)).replace("-", "−")));
    return shown;
  };
  // What is interpolated has no more digits than it is good for.
  const about = (value, off, most = 5) =>
    number(value, off > 0 ? Math.max(1, Math.min(most, Math.floor(-Math.log10(off)) + 1)) : most);
  // A lower bound: rounded down to four digits.
  const atLeast = (value) => {
    const step = 10 ** (Math.floor(Math.log10(value)) - 3);
    return number(Math.floor(value / step * (1 + 1e-12)) * step, 4);
  };
  const name = (key) =>
    make("a", { class: `mech m-${key}`, href: `mechanisms/${key}.html` }, make("span", { class: "swatch" }), facts.titles[key]);
  const badge = (word) =>
    make("span", { class: `badge ${{ holds: "good", loose: "mixed", refuted: "alert" }[word] ?? ""}` }, word);
  const line = (labels, ...cells) => {
    const row = make("tr");
    cells.forEach((cell, column) => {
      const head = column === facts.head;
      const numeric = facts.numeric?.includes(column);
      const made = make(head ? "th" : "td", { "data-label": labels[column], ...(numeric && { class: "n" }), ...(head && { scope: "row" }) });
      made.append(...[cell].flat().filter((part) => part !== null && part !== undefined));
      row.append(made);
    });
    return row;
  };

  // --- The question ------------------------------------------------------------------------------
  class Wrong extends Error {}
  const read = () => {
    const text = (field) => form.elements[field].value.trim();
    if (!/^\d+(\s*[x×,]\s*\d+)*$/.test(text("shape"))) throw new Wrong("The shape is a number of elements, such as 1000, or axes, such as 120x400.");
    const axes = text("shape").split(/[x×,]/).map(Number);
    const asked = { size: axes.reduce((product, n) => product * n, 1), axes, matrix: axes.length === 2 };
    if (axes.includes(0)) throw new Wrong("An axis has 1 element or more. A comma parts axes: write 1000, not 1,000.");
    if (!(asked.size >= 1 && asked.size <= 1e6)) throw new Wrong("The page answers for 1 to 1,000,000 elements.");
    for (const norm of ["l2", "l1", "linf"]) {
      if (!text(norm)) continue;
      asked[norm] = Number(text(norm));
      if (!(asked[norm] >= 1e-12 && asked[norm] <= 1e12)) throw new Wrong(`The ${norm} sensitivity is a number from 1e-12 to 1e12, or nothing.`);
    }
    if (!(asked.l2 || asked.l1 || asked.linf)) throw new Wrong("State a sensitivity: how far one record moves the answer, in l2, l1 or linf norm.");
    [asked.epsilon, asked.delta] = [Number(text("epsilon")), Number(text("delta"))];
    const { epsilons, deltas } = ADVISOR_GRID.l2;
    if (!(asked.epsilon >= epsilons[0] && asked.epsilon <= epsilons.at(-1)))
      throw new Wrong(`The page answers for epsilon from ${epsilons[0]} to ${epsilons.at(-1)}.`);
    if (!(asked.delta === 0 || (asked.delta >= deltas[0] && asked.delta <= deltas.at(-1))))
      throw new Wrong(`The page answers for delta 0, and from ${deltas[0]} to ${deltas.at(-1)}.`);
    const { l2, l1 = Infinity, linf = Infinity, size } = asked;
    const most = ADVISOR.completed({ ...asked, l2: undefined }).l2;
    const slack = 1.001;
    if (l2 && size > 1 && !(l2 <= most * slack && (linf === Infinity || linf <= l2 * slack) && (l1 === Infinity || l1 <= l2 * Math.sqrt(size) * slack)))
      throw new Wrong("No query has these sensitivities together: linf ≤ l2 ≤ l1 ≤ √M l2, and l2² ≤ l1 linf, l2 ≤ √M linf.");
    return asked;
  };
  const command = (asked) => {
    const stated = ["l2", "l1", "linf"].filter((norm) => asked[norm]).map((norm) => ` --${norm}-sensitivity ${asked[norm]}`);
    const delta = asked.delta ? ` --delta ${asked.delta}` : "";
    return `python -m mechanisms compare --shape ${asked.axes.join("x")}${stated.join("")} --epsilon ${asked.epsilon}${delta}`;
  };

  // Options as elements that a narrow screen does not break.
  const inPieces = (text) =>
    text.split(/(--[\w-]+)/).map((part) => (part.startsWith("--") ? make("span", { class: "option" }, part) : part));

  // --- The answer --------------------------------------------------------------------------------
  // As the command ranks: errors within 0.1% of the first of them share a rank, or those that are
  // closer than the interpolation can tell. A line of several mechanisms takes as many places.
  const TIE = 0.001;
  const refuted = (each) => each.published?.verdict === "refuted";
  const ranked = (found) => {
    let first = null, place = 1;
    for (const each of found) {
      if (!first || each.exact - first.exact > first.exact * Math.max(TIE, first.off + each.off)) {
        first = each;
        each.rank = place;
      } else each.rank = first.rank;
      place += each.keys.length;
    }
    // Of ties, noise with a false claim comes last.
    return found.sort((one, other) => one.rank - other.rank || refuted(one) - refuted(other));
  };
  const twins = (keys) =>
    keys.length > 1 ? [make("span", { class: "soft small" }, " the same noise: ", ...keys.slice(1).flatMap((key, i) => [i ? ", " : "", name(key)]))] : [];
  const NAMED = 4;
  // The best, or all that tie with it, to be followed by the error.
  const leaders = (found) => {
    const tied = found.filter((each) => each.rank === 1);
    const rescaled = tied.every((each) => each.rescaled && !(each.published?.rmse <= each.exact * (1 + TIE)));
    const named = tied.flatMap((each) => each.keys.map((key) => [name(key), refuted(each) ? " (refuted as published)" : ""]));
    const words = named.slice(0, NAMED).flatMap((words, i) => [i ? ", " : "", ...words]);
    const more = named.length > NAMED ? ` and ${named.length - NAMED} more` : "";
    return [...words, more, named.length > 1 ? " tie for the least error" : " has the least error", rescaled ? ", rescaled: " : ": "];
  };
  const LABELS = ["Rank", "Mechanism", "Claim", "RMSE", "Of best", "Of the limit", "As published", "True ε", "True δ"];
  const answer = (asked) => {
    const found = ranked(ADVISOR.noises(asked));
    const least = found[0];
    const limit = ADVISOR.limit(asked);
    find("[data-ranking] tbody").replaceChildren(
      ...found.map((each) => {
        const claim = each.published;
        const row = line(
          LABELS,
          String(each.rank),
          [name(each.keys[0]), ...twins(each.keys), each.rescaled ? null : make("span", { class: "soft small" }, " not rescaled")],
          claim ? badge(claim.verdict) : "—",
          about(each.exact, each.off),
          about(each.exact / least.exact, each.off + least.off, 4),
          about(each.exact / limit.rmse, limit.off + each.off, 4),
          claim ? about(claim.rmse, claim.off, 4) : "—",
          claim ? about(claim.epsilon, claim.off, 4) : "—",
          claim ? about(claim.delta, claim.off, 3) : "—"
        );
        if (each.rank === 1) row.firstChild.classList.add("best");
        row.dataset.key = each.keys[0];
        return row;
      })
    );
    find("[data-best]").replaceChildren(
      ...(least
        ? [...leaders(found), about(least.exact, least.off), " an element."]
        : ["No mechanism of this page serves the query."])
    );
    const bound = make("code", {}, ...inPieces(command(asked).replace("compare", "limit")));
    find("[data-limit]").replaceChildren(
      ...(limit.rmse > 0
        ? ["No mechanism has less than ", atLeast(limit.rmse), limit.off > 0 ? "; interpolated, with a margin: " : "; ", bound, " computes the limit."]
        : ["At this budget the limit takes a search: ", bound, "."])
    );
    const served = new Set(found.flatMap((each) => each.keys));
    const others = Object.keys(facts.titles).filter((key) => !served.has(key));
    find("[data-others]").replaceChildren(...others.flatMap((key, i) => [i ? ", " : "", name(key)]), ".");
    find("[data-command]").replaceChildren(...inPieces(command(asked)));
    find("[data-code]").replaceChildren(...inPieces(`${command(asked)} --best`));
  };

  // --- Two mechanisms ----------------------------------------------------------------------------
  const choices = () => [form.elements.one.value, form.elements.other.value];
  const curve = (keys, asked) => {
    const { epsilons } = ADVISOR_GRID.l2;
    const steps = [...Array(25).keys()].map((i) => epsilons[0] * (epsilons.at(-1) / epsilons[0]) ** (i / 24));
    const drawn = steps.map((epsilon) => {
      const found = ADVISOR.noises({ ...asked, epsilon });
      const of = (key) => found.find((each) => each.keys.includes(key));
      return { epsilon, limit: ADVISOR.limit({ ...asked, epsilon }).rmse, noise: keys.map(of) };
    });
    const series = [
      ...keys.map((key, i) => ({ key, label: facts.titles[key], values: drawn.map((each) => each.noise[i]?.exact) })),
      ...keys.map((key, i) => ({ key, dash: "5 4", values: drawn.map((each) => each.noise[i]?.published?.rmse) })),
      { dash: "1 4", values: drawn.map((each) => each.limit) },
    ].filter((each) => each.values.some((value) => value > 0));
    const all = series.flatMap((each) => each.values).filter((value) => value > 0);
    const [low, high] = [Math.min(...all), Math.max(...all)].map(Math.log10);
    const [left, top, width, height] = [56, 8, 390, 260];
    const x = (epsilon) => left + width * Math.log(epsilon / steps[0]) / Math.log(steps.at(-1) / steps[0]);
    const y = (value) => top + height * (high - Math.log10(value)) / (high - low || 1);
    const svg = (tag, attributes, ...children) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
      element.append(...children);
      return element;
    };
    const words = { fill: "currentColor", "font-size": 11 };
    const picture = svg("svg", { viewBox: "0 0 460 312", "aria-hidden": "true" });
    const grid = { stroke: "currentColor", opacity: 0.15 };
    const every = Math.max(1, Math.ceil((high - low) / 6));
    const marks = high - low < 1 ? [low, (low + high) / 2, high] : [...Array(40).keys()].map((i) => (i - 20) * every).filter((p) => p >= low && p <= high);
    for (const power of marks) {
      const at = y(10 ** power);
      picture.append(svg("line", { x1: left, x2: left + width, y1: at, y2: at, ...grid }));
      picture.append(svg("text", { x: left - 6, y: at + 4, "text-anchor": "end", ...words }, String(Number((10 ** power).toPrecision(2)))));
    }
    for (const epsilon of [0.1, 0.3, 1, 3, 10])
      picture.append(svg("text", { x: x(epsilon), y: top + height + 18, "text-anchor": "middle", ...words }, String(epsilon)));
    picture.append(svg("text", { x: left + width / 2, y: 308, "text-anchor": "middle", ...words }, "epsilon"));
    for (const { key, dash, values } of series) {
      const path = values.map((value, i) => (value > 0 ? `${values[i - 1] > 0 ? "L" : "M"}${x(steps[i]).toFixed(1)} ${y(value).toFixed(1)}` : "")).join("");
      picture.append(svg("path", { d: path, fill: "none", "stroke-width": 2, stroke: key ? `var(--m-${key})` : "currentColor", ...(dash && { "stroke-dasharray": dash }) }));
    }
    find("[data-curves-of-two]").replaceChildren(all.length ? picture : make("p", { class: "soft" }, "Neither is known for this query; the table has the common queries."));
    find("[data-legend-of-two]").replaceChildren(
      ...keys.map((key) => make("li", {}, name(key), drawn.some((each) => each.noise[keys.indexOf(key)]) ? "" : " (not drawn: this page does not know its error for the query)")),
      make("li", { class: "soft" }, "solid: at equal true privacy; dashed: as published; dotted: the limit")
    );
  };
  const side = (asked) => {
    const keys = choices();
    const labels = ["", ...keys.map((key) => facts.titles[key])];
    const [one, other] = keys.map((key) => facts.mechanisms[key]);
    const row = (title, cell) => line(labels, title, cell(one), cell(other));
    const found = ADVISOR.noises(asked);
    const here = (key) => found.find((each) => each.keys.includes(key));
    const [mine, its] = keys.map(here);
    const paired = (title, cell) => line(labels, title, mine ? cell(mine) : "—", its ? cell(its) : "—");
    const limit = ADVISOR.limit(asked);
    const rows = [
      row("Private?", (each) => (each.private ? [make("span", { class: `badge ${{ yes: "good", no: "alert" }[each.private] ?? ""}` }, each.private), ` ${each.told}`] : "—")),
      row("Claims", (each) => each.guarantee),
      row("Source", (each) => (each.paper ? make("a", { href: `papers/${each.paper}.html` }, each.source) : each.source)),
      row("True delta where the claim is false, the largest in the range of its theorem or, if none is, outside it", (each) => (each.delta ? [number(each.delta, 3), " for a claimed ", number(each.claimed, 3)] : "—")),
      row("Variance over need, at the settings of all the papers", (each) => (each.waste ? [number(each.waste[0], 3), ...(each.waste[1] > each.waste[0] ? [" to ", number(each.waste[1], 3)] : [])] : "—")),
      row("Seconds of one draw of 48,000 elements", (each) => number(each.seconds ?? NaN, 2)),
      paired("This query: RMSE at equal true privacy", (each) => about(each.exact, each.off)),
      paired("This query: over the limit", (each) => about(each.exact / limit.rmse, limit.off + each.off, 4)),
      paired("This query: RMSE as published", (each) => (each.published ? [about(each.published.rmse, each.published.off, 4), " ", badge(each.published.verdict)] : "—")),
      paired("This query: true ε as published", (each) => about(each.published?.epsilon, each.published?.off, 4)),
      paired("This query: true δ as published", (each) => about(each.published?.delta, each.published?.off, 3)),
      ...facts.queries.map((title, i) => row(make("a", { href: `advisor.html#${facts.anchors[i]}` }, title), (each) => number(each.asked[i] ?? NaN))),
      row("Claims about its privacy", (each) => (each.ledger.length ? each.ledger.flatMap(([id, verdict, tone]) => [make("a", { href: `claims/${id}.html` }, id), " ", make("span", { class: `badge ${tone}` }, verdict), make("br")]) : "—")),
    ];
    find("[data-pair] tbody").replaceChildren(...rows);
    document.querySelectorAll("[data-title-of]").forEach((head, i) => head.replaceChildren(name(keys[i])));
    curve(keys, asked);
  };

  // --- The address -------------------------------------------------------------------------------
  const problem = find("[data-problem]");
  const answered = find("[data-answer]");
  const show = () => {
    try {
      (sides ? side : answer)(read());
      problem.textContent = "";
      answered.hidden = false;
    } catch (wrong) {
      if (!(wrong instanceof Wrong)) throw wrong;
      problem.textContent = wrong.message;
      answered.hidden = true;
    }
  };
  const restore = () => {
    const chosen = new URLSearchParams(location.search);
    for (const field of fields) {
      const control = form.elements[field];
      const wanted = chosen.get(field) ?? preset[field];
      const offered = !control.options || [...control.options].some((each) => each.value === wanted);
      control.value = offered ? wanted : preset[field];
    }
    show();
  };
  form.addEventListener("input", () => {
    const chosen = new URLSearchParams(location.search);
    for (const field of fields) chosen.set(field, form.elements[field].value.trim());
    history.replaceState(null, "", `${location.pathname}?${chosen}${location.hash}`);
    show();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", restore);
  restore();
})();

"use strict";
// Entries that have any of the words: those first that have more of them, and rarer ones; a word
// counts twice in a title, and eight times if it is the title. Words of two letters count if all are.
(() => {
  const MOST = 60;
  const input = document.querySelector("[data-find] input");
  const results = document.querySelector("[data-results]");
  const status = document.querySelector("[data-found]");
  const plain = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const entries = searchIndex.map((entry) => ({
    ...entry,
    title_: plain(`${entry.title} ${entry.words.split(" ")[0]}`),
    text: plain(Object.values(entry).join(" ")),
  }));
  const make = (tag, name, ...children) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  };
  const shown = (entry) => {
    const link = make("a", "", entry.title);
    link.href = entry.link;
    const head = make("p", "", make("span", "soft small", `${entry.kind} `), link);
    if (entry.verdict) head.append(" ", make("code", "", entry.words.split(" ")[0]));
    if (entry.verdict) head.prepend(make("span", `badge ${entry.tone}`, entry.verdict), " ");
    return make("li", "", head, make("p", "soft small", entry.about));
  };
  const show = () => {
    const typed = plain(input.value).split(/[^\p{L}\p{N}+._-]+/u).map((word) => word.replace(/[.]+$/, "")).filter(Boolean);
    const long = typed.filter((word) => word.length > 2 || /\d/.test(word));
    const words = [...new Set(long.length ? long : typed)];
    const scores = new Map(entries.map((entry) => [entry, { every: 0, sum: 0 }]));
    for (const word of words) {
      // Of what stands in a word only its beginning counts, or "is" is found everywhere.
      const begins = new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[+.]/g, "\\$&")}`, "u");
      const having = entries.filter((entry) => begins.test(entry.text));
      for (const entry of having) {
        const score = scores.get(entry);
        score.every += 1;
        const place = plain(entry.title) === word ? 8 : begins.test(entry.title_) ? 2 : 1;
        score.sum += place * Math.log(1 + entries.length / having.length);
      }
    }
    const score = (entry) => scores.get(entry);
    // A sort keeps the order of the kinds among equals.
    const found = entries.filter((entry) => score(entry).every).sort((one, other) => score(other).sum - score(one).sum);
    results.replaceChildren(...found.slice(0, MOST).map(shown));
    const more = found.length > MOST ? `; the first ${MOST} are shown` : "";
    const all = found.filter((entry) => score(entry).every === words.length).length;
    const having = words.length > 1 ? `, ${all} of them with every word` : "";
    const nothing = "Nothing found. Try the beginning of a word, a mechanism (Laplace), an author, a data set (MNIST) or the name of a claim (r1-thm5).";
    status.textContent = !words.length ? "" : found.length ? `${found.length} found${having}${more}` : nothing;
  };
  const restore = () => {
    input.value = new URLSearchParams(location.search).get("q") || "";
    show();
  };
  input.addEventListener("input", () => {
    const address = new URL(location.href);
    address.searchParams.set("q", input.value);
    history.replaceState(null, "", address);
    show();
  });
  document.querySelector("[data-find]").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", restore);
  restore();
  input.focus();
})();

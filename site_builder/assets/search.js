"use strict";
// Entries that have every word, those with more of them in the title first.
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
    if (entry.verdict) head.prepend(make("span", `badge ${entry.tone}`, entry.verdict), " ");
    return make("li", "", head, make("p", "soft small", entry.about));
  };
  const show = () => {
    const words = plain(input.value).split(/\s+/).filter(Boolean);
    const score = (entry) => words.filter((word) => entry.title_.includes(word)).length;
    const found = words.length ? entries.filter((entry) => words.every((word) => entry.text.includes(word))) : [];
    // A sort keeps the order of the kinds among equals.
    found.sort((one, other) => score(other) - score(one));
    results.replaceChildren(...found.slice(0, MOST).map(shown));
    const more = found.length > MOST ? `, the first ${MOST} of them shown` : "";
    status.textContent = words.length ? `${found.length} found${more}` : "";
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

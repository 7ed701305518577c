"use strict";
// Before the page is drawn: the theme of the address, or the one chosen last.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const asked = new URLSearchParams(location.search).get("theme");
  let stored = null;
  try { stored = localStorage.getItem("theme"); } catch { /* a browser that keeps nothing */ }
  const theme = asked || stored;
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
})();

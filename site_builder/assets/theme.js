"use strict";
// Set the theme before the page is drawn: the one in the address, or the one chosen last.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const asked = new URLSearchParams(location.search).get("theme");
  let stored = null;
  try { stored = localStorage.getItem("theme"); } catch { /* the browser blocks storage */ }
  const theme = asked || stored;
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
})();

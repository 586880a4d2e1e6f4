// What scripts add to pages that work without them: local times, keys, and the menu on a narrow screen.
(() => {
  "use strict";
  const root = document.documentElement;

  const showLocalTimes = (part) => {
    const format = new Intl.DateTimeFormat(root.lang, { dateStyle: "medium", timeStyle: "short" });
    for (const element of part.querySelectorAll("time[datetime*=T]")) {
      const at = new Date(element.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      element.title = element.dateTime;
      element.textContent = format.format(at);
    }
  };

  const isTyping = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

  const moveInList = (step) => {
    // `data-item` marks the one link of a row that counts, where rows hold several.
    const marked = document.querySelectorAll("[data-list] a[data-item]");
    const links = [...(marked.length > 0 ? marked : document.querySelectorAll("[data-list] a[href]"))];
    if (links.length === 0) return;
    const at = links.indexOf(document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, at + step))].focus();
  };

  // `/` goes to the search field, `j` and `k` walk through a list, and `data-key` gives a link or button its key.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "j" || event.key === "k") moveInList(event.key === "j" ? 1 : -1);
    else if (event.key === "/") document.querySelector("input[type=search]")?.focus();
    else {
      const key = CSS.escape(event.key);
      const row = document.activeElement.closest("[data-list] > *");
      // The key of a row (`data-row-key`) means the row that has the focus, and keeps the focus there.
      const own = row?.querySelector(`[data-row-key="${key}"]`) ?? null;
      const target = own ?? document.querySelector(`[data-key="${key}"]`);
      if (target === null) return;
      // `data-rows`: does something with the ticked rows; if none is ticked, with the row that has the focus.
      const box = row?.querySelector("input[type=checkbox]") ?? null;
      if (box !== null && "rows" in target.dataset && target.form?.querySelector("[data-list] :checked") === null) box.checked = true;
      if (own === null) target.focus();
      target.click();
    }
    event.preventDefault();
  });

  const narrow = window.matchMedia("(max-width: 55.99rem)");
  const menu = document.querySelector("details.menu");
  const foldMenu = () => { if (menu !== null) menu.open = !narrow.matches; };
  narrow.addEventListener("change", foldMenu);
  foldMenu();
  // Not the attribute `autofocus`, which complains on the console where the reader was faster.
  if (document.activeElement === document.body) document.querySelector("[data-focus]")?.focus();
  showLocalTimes(document);
  // A live part must not take the keyboard's place: what had the focus gets it back, if it is still there.
  let focused = "";
  document.addEventListener("htmx:before:swap", () => { focused = document.activeElement?.id ?? ""; });
  document.addEventListener("htmx:after:swap", () => {
    showLocalTimes(document);
    if (focused !== "" && document.activeElement === document.body) document.getElementById(focused)?.focus();
  });
})();

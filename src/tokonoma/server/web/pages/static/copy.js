// Buttons that copy a text. Without a script the text can be selected, and the buttons stay hidden.
(() => {
  "use strict";
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const text = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = text; }, 2000);
    });
  }
})();

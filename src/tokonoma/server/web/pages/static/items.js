// Keys of the board: h and l go to the next column with cards, < and > give the card another status.
(() => {
  "use strict";
  const moveCard = (card, step) => {
    const select = card.querySelector("select");
    const wanted = select.selectedIndex + step;
    if (wanted < 0 || wanted >= select.options.length) return;
    select.selectedIndex = wanted;
    select.form.requestSubmit();
  };

  const changeColumn = (card, step) => {
    const columns = [...document.querySelectorAll(".column:has(.card)")];
    columns[columns.indexOf(card.closest(".column")) + step]?.querySelector(".card a").focus();
  };

  const keys = { "<": [moveCard, -1], ">": [moveCard, 1], h: [changeColumn, -1], l: [changeColumn, 1] };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    const focused = document.activeElement;
    const card = focused.closest(".card");
    if (card === null || focused.closest("select") !== null) return;
    const [act, step] = keys[event.key];
    event.preventDefault();
    act(card, step);
  });
})();

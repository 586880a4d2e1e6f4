// The theme wraps wide tables into boxes that scroll. By keyboard only what takes the focus can be scrolled.
const makeScrollable = () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) box.tabIndex = 0;
};

makeScrollable();
new MutationObserver(makeScrollable).observe(document.querySelector("article"), { childList: true, subtree: true });

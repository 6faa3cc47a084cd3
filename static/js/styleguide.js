/* Opens the dialogs and draws highlights the way the labelling pages do. */
for (const button of document.querySelectorAll("[data-dialog]")) {
  button.addEventListener("click", () => document.getElementById(button.dataset.dialog).showModal());
}

const words = { candidate: "without touching the text", support: "a support", rationale: "a rationale", active: "the active one" };
for (const [name, word] of Object.entries(words)) {
  const ranges = [...document.querySelectorAll("[data-highlights]")].map((paragraph) => {
    const found = new RegExp(word.replaceAll(" ", "\\s+")).exec(paragraph.firstChild.data);
    const range = new Range();
    range.setStart(paragraph.firstChild, found.index);
    range.setEnd(paragraph.firstChild, found.index + found[0].length);
    return range;
  });
  CSS.highlights.set(name, new Highlight(...ranges));
}

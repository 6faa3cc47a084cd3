/* Opens the dialogs and draws highlights the way the labelling pages do. */
for (const button of document.querySelectorAll("[data-dialog]")) {
  button.addEventListener("click", () => document.getElementById(button.dataset.dialog).showModal());
}

const words = { candidate: "without touching the text", support: "a support", rationale: "a rationale", active: "the active one" };
for (const [name, word] of Object.entries(words)) {
  const ranges = [...document.querySelectorAll("[data-highlights]")].map((paragraph) => {
    const start = paragraph.firstChild.data.indexOf(word);
    const range = new Range();
    range.setStart(paragraph.firstChild, start);
    range.setEnd(paragraph.firstChild, start + word.length);
    return range;
  });
  CSS.highlights.set(name, new Highlight(...ranges));
}

/* Buttons that copy the text of an element (data-copy is its id) and say so. Without JavaScript they stay hidden: the
   text can be selected and copied by hand. */
for (const button of document.querySelectorAll("[data-copy]")) {
  const said = button.parentElement.querySelector("[role=status]");
  button.parentElement.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    said.textContent = "";
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      said.textContent = button.dataset.copied;
    } catch {
      getSelection().selectAllChildren(source); // no clipboard: a page without https, or a browser that refuses
      said.textContent = button.dataset.notCopied;
    }
  });
}

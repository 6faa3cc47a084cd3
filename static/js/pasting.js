/* Counts text that is pasted or dropped into an answer from elsewhere. What was copied or cut on this page is not from
   elsewhere. Nothing of the text is kept or sent: how often, and how many characters. The count goes on from the
   page's, so that coming back does not begin anew. */

export function countPastes(field, changed) {
  const counted = { times: Number(field.dataset.pastes) || 0, characters: Number(field.dataset.pasted) || 0 };
  const ofThisPage = new Set();
  const selected = () => {
    const { activeElement: at } = document;
    const within = at === field ? field.value.slice(field.selectionStart, field.selectionEnd) : String(getSelection());
    if (within) ofThisPage.add(within.trim());
  };
  for (const kind of ["copy", "cut", "dragstart"]) document.addEventListener(kind, selected);
  const note = (transfer) => {
    const came = transfer?.getData("text/plain") ?? "";
    if (!came || ofThisPage.has(came.trim())) return;
    counted.times += 1;
    counted.characters += came.length;
    changed();
  };
  field.addEventListener("paste", (event) => note(event.clipboardData));
  field.addEventListener("drop", (event) => note(event.dataTransfer));
  return counted;
}

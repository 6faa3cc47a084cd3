/* A menu closes when the keyboard or the pointer goes elsewhere, and on Escape. */
for (const menu of document.querySelectorAll("details.menu")) {
  const closeUnlessInside = ({ target }) => {
    if (!menu.contains(target)) menu.open = false;
  };
  document.addEventListener("pointerdown", closeUnlessInside);
  document.addEventListener("focusin", closeUnlessInside);
  menu.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

/* Errors by keyboard: J and K go from item to item, N and P from page to page. */

const items = [...document.querySelectorAll(".error-item")];

function step(by) {
  const here = items.findIndex((item) => item.contains(document.activeElement));
  items[Math.max(0, Math.min(items.length - 1, here + by))]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox]), select, textarea"))
    return;
  const key = event.key.toLowerCase();
  if (key === "j") step(1);
  else if (key === "k") step(-1);
  else document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.click();
});

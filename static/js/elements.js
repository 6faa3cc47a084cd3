/* Making elements of the page. */

/** A new element with these fields and children. */
export function element(name, fields, ...children) {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...children);
  return made;
}

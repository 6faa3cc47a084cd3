/* The keys of a page on which a task is done: digits choose, other keys act, and a few act together with Ctrl (or ⌘). */

const withoutShift = (key) => (key.length === 1 ? key.toLowerCase() : key);

/** `press` gets the digits; `keys` says what the others do, letters in small; `withCtrl` what Ctrl does with one.
    Keys that go to an element of the selector `but` stay there. */
export function listenToKeys({ press, keys, withCtrl, but }) {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.target.closest(but)) return;
    const held = event.ctrlKey || event.metaKey;
    if (/^\d$/u.test(event.key) && event.repeat) return; // or a key held down would answer the next question too
    const action = held ? withCtrl[event.key] : /^\d$/u.test(event.key) ? () => press(event.key) : keys[withoutShift(event.key)];
    if (!action) return;
    event.preventDefault();
    if (!held || !event.repeat) action(event);
  });
}

/* What this browser remembers of its reader's ways. Nothing depends on it. */

export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Not allowed here.
  }
}

export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

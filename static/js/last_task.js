/* The task that was submitted last in this tab. From the page that came next it can be taken back. */

const NAME = "assize:last-task";

/** Remember that the user submitted the task on this page, last answering the item, and was sent to `next`. */
export function rememberLastTask({ user, item, next }) {
  const last = { user, next, path: location.pathname, item };
  try {
    sessionStorage.setItem(NAME, JSON.stringify(last));
  } catch {
    // Not allowed here.
  }
  return addressOf(last);
}

/** Show the link to the task before, if this page came right after it. */
export function offerToTakeBack(link) {
  const last = remembered();
  if (last?.user !== link.dataset.user || last.next !== location.pathname) return;
  link.href = addressOf(last);
  link.hidden = false;
}

/** Go to the task before, if the link to it is on offer. Returns whether it is. */
export function takeBackLastTask(link) {
  if (!link || link.hidden) return false;
  location.assign(link.href);
  return true;
}

function addressOf({ path, item, next }) {
  const [, task] = next.match(/^\/work\/(\d+)\/$/u) ?? [];
  return `${path}${task ? `?back=${task}` : ""}#question-${item}`;
}

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(NAME));
  } catch {
    return null;
  }
}

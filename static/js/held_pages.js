/* The pages of the tasks ahead, as they came with the reply to an answer. Each task's page holds them for two minutes at
   most, and hands them on to the next one's alone: whoever leaves in any other way leaves none behind. The service worker
   shows them. */

const HELD_FOR = 120_000; // milliseconds, as a page that is fetched ahead
const HELD = "assize:pages";
const AT_ONCE = 500; // milliseconds that the service worker may take; else the server is asked
const page = document.getElementById("assignment").dataset;

let worker; // undefined where there is none: then no page comes along
let held = takeOver();

if (page.worker && "serviceWorker" in navigator) {
  const scope = new URL(".", new URL(page.worker, location.href)).pathname;
  const registered = navigator.serviceWorker.register(page.worker, { scope, updateViaCache: "all" });
  registered.then((registration) => isActive(registration)).catch(() => {}); // not allowed here: pages are fetched
}

function isActive(registration) {
  if (registration.active) worker = registration.active;
  else registration.installing?.addEventListener("statechange", ({ target }) => target.state === "activated" && (worker = target));
}

/** The number of the task at this address. */
export const taskAt = (address) => address.match(/^\/work\/(\d+)\/$/u)?.[1];

/** What the server is to know of the pages that are here; nothing where none can be shown. */
export function heldTasks() {
  return worker && { held: Object.keys(held).filter(holds).map((address) => Number(taskAt(address))) };
}

/** Whether the page at this address is here. */
export const holds = (address) => Date.now() - (held[address]?.at ?? 0) < HELD_FOR;

/** Hold the pages that came with a reply, which is shown with the reply's own headers. */
export function holdPages({ pages, headers }) {
  const own = headers.filter(([name]) => name === "content-security-policy" || !name.startsWith("content-"));
  const all = [...own, ["content-type", "text/html; charset=utf-8"]];
  for (const [address, html] of Object.entries(pages ?? {})) held[address] = { html, headers: all, at: Date.now() };
}

/** Have the page at this address shown when it is visited now, if it is here; and hand the others on to it. */
export async function showHeld(address) {
  if (!worker || !taskAt(address)) return;
  const { [address]: next, ...others } = held;
  const isFresh = holds(address);
  held = others;
  handOn();
  if (isFresh) await handOver(new URL(address, location.href).href, next);
}

function handOver(address, { html, headers }) {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", resolve);
    port1.start();
    worker.postMessage({ address, html, headers }, [port2]);
    setTimeout(resolve, AT_ONCE);
  });
}

function handOn() {
  try {
    sessionStorage.setItem(HELD, JSON.stringify({ user: page.user, held }));
  } catch {
    // Not allowed here, or too much: they are fetched.
  }
}

function takeOver() {
  try {
    const { user, held: handed } = JSON.parse(sessionStorage.getItem(HELD)) ?? {};
    sessionStorage.removeItem(HELD);
    return user === page.user ? handed : {};
  } catch {
    return {};
  }
}

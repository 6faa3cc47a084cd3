/* The session's strip in the bar over a task: how long its assessor has worked without going away for long, what that
   brings an hour where the pay is known, and after three quarters of an hour a word about a break. */

import { keep, kept } from "./memory.js";
import { gettext, ngettext } from "./words.js";

const AWAY = 30 * 60; // seconds after which another session begins
const PAUSE = 5 * 60; // what is long enough for a break
const LONG = 45 * 60;
const ENOUGH_TO_TELL = 5 * 60; // before that an hourly pay says nothing
const EVERY = 10_000; // milliseconds

const byId = (id) => document.getElementById(id);

/** Show the strip and keep it, by what the clock counts. */
export function showSession(clock, user) {
  const strip = byId("session");
  if (!strip) return;
  const name = `assize:session:${user}`;
  let counted = 0; // seconds of this page that are in the session already

  const read = () => {
    const before = JSON.parse(kept(name) ?? "null") ?? { seconds: 0, sinceBreak: 0, at: Date.now() };
    const away = (Date.now() - before.at) / 1000;
    if (away > AWAY) return { seconds: 0, sinceBreak: 0 };
    return away > PAUSE ? { ...before, sinceBreak: 0 } : before;
  };
  const tick = () => {
    const session = read();
    const passed = clock.worked - counted;
    counted = clock.worked;
    session.seconds += passed;
    session.sinceBreak += passed;
    if (passed > 0 || !kept(name)) keep(name, JSON.stringify({ ...session, at: Date.now() }));
    show(session);
  };
  const show = ({ seconds, sinceBreak }) => {
    const minutes = Math.floor(seconds / 60);
    const { reward, currency, done, tasks } = strip.dataset;
    const words = [ngettext("{n} min worked", "{n} min worked", minutes)];
    if (reward && Number(done) && Number(tasks) && seconds >= ENOUGH_TO_TELL) {
      const hourly = (Number(reward) * Number(done)) / Number(tasks) / (seconds / 3600);
      const money = new Intl.NumberFormat(undefined, { style: "currency", currency, maximumFractionDigits: 1 });
      words.push(gettext("about {pay} an hour", { pay: money.format(hourly) }));
    }
    strip.textContent = `· ${words.join(" · ")}`;
    strip.hidden = minutes < 1;
    byId("break").hidden = sinceBreak < LONG;
  };

  byId("no-break").addEventListener("click", () => {
    keep(name, JSON.stringify({ ...read(), sinceBreak: 0, at: Date.now() }));
    byId("break").hidden = true;
  });
  addEventListener("pagehide", tick);
  setInterval(tick, EVERY);
  tick();
}

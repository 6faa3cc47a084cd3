/* What scripts say, in the page's language: `gettext("{n} of {m}", { n, m })`. English needs nothing; the words of another
   language come from the script in `words/` that the page names before all others. */

const { words = {}, plural = () => 0 } = globalThis.assizeWords ?? {};

const filled = (text, values) => text.replace(/\{(\w+)\}/gu, (all, name) => values[name] ?? all);

export const gettext = (text, values = {}) => filled(words[text] ?? text, values);

/** The same where the number n decides on the word. */
export function ngettext(one, many, n, values = {}) {
  const forms = words[one];
  return filled(forms ? forms[Number(plural(n))] : n === 1 ? one : many, { n, ...values });
}

/**
 * Splits a command line into words as a shell does, with quotes and backslashes;
 * nothing else has a meaning. Undefined where a quote is not closed.
 */
export function words(line: string): string[] | undefined {
  const out: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line.charAt(i);
    if (c === "\\" && quote !== "'") {
      if (++i >= line.length) return undefined;
      const next = line.charAt(i);
      word = (word ?? "") + (quote === '"' && next !== '"' && next !== "\\" ? "\\" + next : next);
    } else if (quote !== "") {
      if (c === quote) quote = "";
      else word += c;
    } else if (c === "'" || c === '"') {
      quote = c;
      word ??= "";
    } else if (/\s/.test(c)) {
      if (word !== undefined) out.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + c;
    }
  }
  if (quote !== "") return undefined;
  if (word !== undefined) out.push(word);
  return out;
}

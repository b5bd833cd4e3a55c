/**
 * How wide a text can get, without asking the browser: labels are placed before
 * anything is drawn, and the same everywhere.
 *
 * @module
 */

// Widths in parts of the letters' size, of the widest font that a page of this
// kind is drawn with (DejaVu Sans, where a Linux has nothing else): narrower
// fonts leave a little air.
const narrow = 0.36;
const digit = 0.64;
const letter = 0.63;
const capital = 0.76;
const wide = 1.0;
const bolder = 1.11;

function widthOf(c: string): number {
  if (" .,:;'|!/()[]ijlIft·-".includes(c)) {
    return c === "-" || c === "/" || c === "(" || c === ")" || c === "f" || c === "t" ? 0.42 : narrow;
  }
  if (c >= "0" && c <= "9") {
    return digit;
  }
  if ("mwMWGOQ%@".includes(c)) {
    return wide;
  }
  if (c >= "A" && c <= "Z") {
    return capital;
  }
  return c < "\u0300" ? letter : wide;
}

/** An upper limit of a text's width, for letters of a size. */
export function textWidth(text: string, size: number, bold = false): number {
  let sum = 0;
  for (const c of text) {
    sum += widthOf(c);
  }
  return sum * size * (bold ? bolder : 1);
}

/** A text that fits a width, its end replaced by an ellipsis where needed. */
export function shorten(text: string, width: number, size: number, bold = false): string {
  if (textWidth(text, size, bold) <= width) {
    return text;
  }
  const letters = [...text];
  while (letters.length > 1 && textWidth(letters.join("") + "…", size, bold) > width) {
    letters.pop();
  }
  return letters.join("").trimEnd() + "…";
}

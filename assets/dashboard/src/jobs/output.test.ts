import { describe, expect, it } from "vitest";

import { Output } from "./output";

const piece = (text: string | number[], more: object = {}) => ({
  sub: "s", n: 1, attempt: 1, rank: 0, stream: "out" as const, offset_bytes: 0,
  data: btoa(String.fromCharCode(...(typeof text === "string" ? new TextEncoder().encode(text) : text))), ...more,
});
const texts = (output: Output) => output.lines.map((line) => `${line.rank}${line.stream === "err" ? "!" : ""} ${line.text}`);

describe("what ranks print", () => {
  it("is lines, whatever the pieces are", () => {
    const output = new Output();
    output.add(piece("a\nb"));
    output.add(piece("x", { rank: 1 }));
    output.add(piece("c\n\nd"));
    output.add(piece("err\n", { stream: "err" }));
    expect(texts(output)).toEqual(["0 a", "0 bc", "1 x", "0 ", "0 d", "0! err"]);
  });

  it("keeps characters whole that pieces cut", () => {
    const output = new Output();
    const bytes = [...new TextEncoder().encode("µs")];
    output.add(piece(bytes.slice(0, 1)));
    output.add(piece(bytes.slice(1)));
    expect(texts(output)).toEqual(["0 µs"]);
  });

  it("shows nothing that would move a terminal or hide what is written", () => {
    const output = new Output();
    output.add(piece("\u001b[31mred\u001b[0m\u0007\n10 %\r 20 %\r\n\u202eevil\n"));
    expect(texts(output)).toEqual(["0 red", "0  20 %", "0 evil"]);
  });

  it("keeps the last lines only, and tells what is missing", () => {
    const output = new Output();
    output.add(piece("x\n".repeat(6000)));
    output.add(piece("", { data: undefined, skipped_bytes: 7, notice: { reason: "output_dropped", message: "Too much." } }));
    expect(output.lines.length).toBe(5000);
    expect(texts(output).slice(-2)).toEqual(["0 Too much.", "0 7 bytes are not kept here"]);
    output.clear();
    expect(output.lines.length).toBe(0);
  });
});

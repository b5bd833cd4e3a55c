import type * as api from "../api/types";

/** A line that a rank printed, or a word about its output. */
export interface OutputLine {
  key: number;
  attempt: number;
  rank: number;
  stream: api.OutputStream | "notice";
  text: string;
}

const most = 5000;
const longest = 4000;

/**
 * What the ranks of a job print, as lines, the last some thousands of them. Each
 * stream has its own decoder and its own unfinished line, since pieces end
 * anywhere, also within a character.
 */
export class Output {
  #lines: OutputLine[] = [];
  #open = new Map<string, { decoder: TextDecoder; line: OutputLine | undefined }>();
  #last = 0;

  /** Begins anew, as after a new connection. */
  clear(): void {
    this.#lines = [];
    this.#open.clear();
  }

  add(piece: api.JobOutput): void {
    const { attempt, rank } = piece;
    if (piece.notice) this.#push({ attempt, rank, stream: "notice", text: piece.notice.message });
    if (piece.skipped_bytes) this.#push({ attempt, rank, stream: "notice", text: `${piece.skipped_bytes} bytes are not kept here` });
    if (!piece.data) return;
    const stream = piece.stream ?? "out";
    const key = `${attempt}/${rank}/${stream}`;
    const open = this.#open.get(key) ?? { decoder: new TextDecoder(), line: undefined };
    this.#open.set(key, open);
    const parts = open.decoder.decode(bytesOf(piece.data), { stream: true }).split("\n");
    parts.forEach((part, i) => {
      const text = clean(part);
      if (open.line === undefined && (text !== "" || i < parts.length - 1)) open.line = this.#push({ attempt, rank, stream, text: "" });
      if (open.line !== undefined && open.line.text.length < longest) open.line.text += text;
      if (i < parts.length - 1) open.line = undefined;
    });
  }

  get lines(): readonly OutputLine[] {
    return this.#lines;
  }

  #push(line: Omit<OutputLine, "key">): OutputLine {
    const kept = { ...line, key: ++this.#last };
    this.#lines.push(kept);
    if (this.#lines.length > most) this.#lines.splice(0, this.#lines.length - most);
    return kept;
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

/** Of a line that was overwritten by carriage returns, the last; without what moves a terminal's cursor or colours its text. */
function clean(text: string): string {
  const last = text.replace(/\r+$/, "");
  return last
    .slice(last.lastIndexOf("\r") + 1)
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/g, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}

/**
 * Numbers as people read them. What is not known is a dash with a word beside it
 * where there is room; never 0.
 *
 * @module
 */

import type * as api from "./api/types";
import { gpuMemory } from "./words";

/** What stands where a value is not known. */
export const unknown = "–";

/** Three digits are enough to compare, and they do not jump about. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return Math.round(value).toString();
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(2).replace(/\.?0+$/, "") || "0";
}

function scaled(value: number, units: readonly (readonly [number, string])[]): string {
  const size = Math.abs(value);
  for (const [factor, unit] of units) {
    if (size >= factor * 0.9995) return `${digits(value / factor)} ${unit}`;
  }
  const [factor, unit] = units[units.length - 1]!;
  return `${digits(value / factor)} ${unit}`;
}

/** A speed of a link, such as 73.1 Gb/s. */
export function bits(perSecond: number | undefined): string {
  if (perSecond === undefined) return unknown;
  return scaled(perSecond, [[1e12, "Tb/s"], [1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]]);
}

/** Memory, as Macs are sold by: 512 GB are 2^39 bytes. */
export function bytes(count: number | undefined): string {
  if (count === undefined) return unknown;
  return scaled(count, [[2 ** 40, "TB"], [2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "KB"], [1, "B"]]);
}

/** What is used of a total: 612 of 1536 GB. */
export function used(part: number | undefined, total: number | undefined): string {
  if (total === undefined) return part === undefined ? unknown : bytes(part);
  const whole = Math.round(total / 2 ** 30);
  return part === undefined ? `${whole} GB` : `${Math.round(part / 2 ** 30)} of ${whole} GB`;
}

/** A Mac's memory, where it is not unified with what it is: 24 GB GPU memory, 12 of 64 GB RAM. */
export function memoryOf(kind: api.GPUMemory | undefined, part: number | undefined, total: number | undefined, working: number | undefined): string {
  const line = used(part, total);
  if (kind === undefined || kind === "unified" || line === unknown) return line;
  const own = kind === "dedicated" && working !== undefined ? `${Math.round(working / 2 ** 30)} GB ${gpuMemory(kind)}, ` : "";
  return `${own}${line} ${gpuMemory("none")}`;
}

/** A memory bandwidth, such as 661 GB/s; these are decimal, as data sheets have them. */
export function bandwidth(bytesPerSecond: number | undefined): string {
  if (bytesPerSecond === undefined) return unknown;
  return scaled(bytesPerSecond, [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"]]);
}

/** A duration of micro- to milliseconds, such as 9.3 µs. */
export function latency(us: number | undefined): string {
  if (us === undefined) return unknown;
  return scaled(us, [[1e6, "s"], [1e3, "ms"], [1, "µs"]]);
}

export function tflops(value: number | undefined): string {
  return value === undefined ? unknown : `${digits(value)} TFLOPS`;
}

export function watts(value: number | undefined): string {
  return value === undefined ? unknown : `${Math.round(value)} W`;
}

export function celsius(value: number | undefined): string {
  return value === undefined ? unknown : `${Math.round(value)} °C`;
}

export function hertz(value: number | undefined): string {
  return value === undefined ? unknown : scaled(value, [[1e9, "GHz"], [1e6, "MHz"], [1, "Hz"]]);
}

/** A part of 1 as percent. */
export function percent(ratio: number | undefined): string {
  return ratio === undefined ? unknown : `${Math.round(ratio * 100)} %`;
}

/** A duration in its two largest units: 2 h 14 min. */
export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return s % 60 ? `${min} min ${s % 60} s` : `${min} min`;
  const h = Math.floor(min / 60);
  if (h < 48) return min % 60 ? `${h} h ${min % 60} min` : `${h} h`;
  const d = Math.floor(h / 24);
  return h % 24 ? `${d} d ${h % 24} h` : `${d} d`;
}

/**
 * How long ago something was, in one unit: 12 min. A moment of the future, by a
 * clock that is ahead, is now.
 */
export function age(at: string | undefined, now: number): string {
  if (at === undefined) return unknown;
  const then = Date.parse(at);
  if (Number.isNaN(then)) return unknown;
  const s = (now - then) / 1000;
  if (s < 10) return "now";
  if (s < 60) return "under 1 min";
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

/** The time of day of a moment, with the date where it is not that of now. */
export function clock(at: string | undefined, now: number): string {
  if (at === undefined) return unknown;
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return unknown;
  const time = then.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  return then.toDateString() === new Date(now).toDateString() ? time : `${then.toLocaleDateString()} ${time}`;
}

/** Counts something: 1 cable, 3 cables. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? `1 ${one}` : `${count} ${many}`;
}

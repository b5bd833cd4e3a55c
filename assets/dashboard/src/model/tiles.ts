import type * as api from "../api/types";
import { bandwidth, tflops, unknown, used, watts } from "../format";
import { gpuMemory } from "../words";

/** One of the cluster's totals. */
export interface Tile {
  key: "compute" | "bandwidth" | "memory" | "power";
  label: string;
  /** What is shown large; a dash where nothing is known. */
  value: string;
  /** On how many nodes it rests, where that is not all, or why it is not known. */
  note: string;
  known: boolean;
  /** 0 to 1, of what has a whole. */
  ratio?: number;
}

/** The four tiles. A sum that leaves nodes out says so. */
export function tilesOf(totals: api.Totals | undefined): Tile[] {
  const nodes = totals?.nodes ?? 0;
  const of = (count: number) => (count < nodes ? `${count} of ${nodes} Macs` : nodes === 1 ? "this Mac" : `all ${nodes} Macs`);
  const measured = totals?.measured_nodes ?? 0;
  const other = (totals?.other_memory ?? []).map((o) => `${used(undefined, o.total_bytes)} ${gpuMemory(o.gpu_memory ?? "")} of ${o.nodes} ${o.nodes === 1 ? "machine" : "machines"}`);
  const use = totals?.memory_total_bytes === undefined ? (other.length > 0 ? [] : ["not known yet"]) : [totals.memory_used_bytes === undefined ? "use not known yet" : "in use"];
  const memory: Tile = {
    key: "memory",
    label: "Unified memory",
    value: used(totals?.memory_used_bytes, totals?.memory_total_bytes),
    note: [...use, ...other].join(", "),
    known: totals?.memory_total_bytes !== undefined,
  };
  if (totals?.memory_used_bytes !== undefined && totals.memory_total_bytes) memory.ratio = totals.memory_used_bytes / totals.memory_total_bytes;
  return [
    tile("compute", "fp16 compute", tflops(totals?.fp16_tflops), measured > 0 ? `measured on ${of(measured)}` : "not measured yet"),
    tile("bandwidth", "Memory bandwidth", bandwidth(totals?.memory_bytes_per_s), measured > 0 ? `measured on ${of(measured)}` : "not measured yet"),
    memory,
    tile("power", "Power", watts(totals?.power_watts), (totals?.power_nodes ?? 0) > 0 ? of(totals!.power_nodes) : "not known yet"),
  ];
}

function tile(key: Tile["key"], label: string, value: string, note: string): Tile {
  return { key, label, value, note, known: value !== unknown };
}

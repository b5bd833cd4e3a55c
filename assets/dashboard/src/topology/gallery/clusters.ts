/**
 * Made-up clusters for the gallery, by the words of its address: shape (ring,
 * mesh, star, chain), n, kind, bad (which cables are slow, by commas), double (two cables a
 * pair), hub, network, away, guest, jobs.
 *
 * @module
 */

import type * as api from "../../api/types";
import type { Model, ModelLink, ModelNode, ModelRow, Silhouette } from "../../model";
import { cable, mac, network, pairsOf, type Cabling } from "../testgraph";

const cases: readonly (readonly [Silhouette, string, string, number])[] = [
  ["studio", "Mac Studio", "Apple M3 Ultra", 512],
  ["laptop", "MacBook Pro", "Apple M5 Max", 128],
  ["mini", "Mac mini", "Apple M4 Pro", 64],
  ["studio", "Mac Studio", "Apple M4 Max", 128],
  ["laptop", "MacBook Air", "Apple M4", 24],
  ["imac", "iMac", "Apple M4", 32],
  ["tower", "Mac Pro", "Apple M2 Ultra", 192],
  ["generic", "Linux machine", "", 64],
];

/** A number from 0 to 1 that follows from others: the gallery looks the same every time. */
function chance(...seed: number[]): number {
  let h = 2166136261;
  for (const s of seed) {
    h = Math.imul(h ^ (s + 17), 16777619);
    h ^= h >>> 13;
  }
  return ((h >>> 0) % 10_000) / 10_000;
}

function rowsOf(link: ModelLink): ModelRow[] {
  const b = link.b;
  if (b === undefined) {
    return [];
  }
  const transports: api.Transport[] = link.type === "rdma" ? ["rdma", "socket"] : ["socket"];
  return transports.flatMap((transport) =>
    ([[link.a, b], [b, link.a]] as const).map(([from, to]): ModelRow => ({
      key: `${link.id} ${transport} ${from}`,
      from,
      to,
      fromName: from,
      toName: to,
      transport,
      type: transport === "rdma" ? "rdma" : link.kind,
      upBitsPerS: link.forwardBitsPerS ?? 0,
      downBitsPerS: link.backwardBitsPerS ?? 0,
      latencyUs: link.latencyUs ?? 0,
      jitterUs: 12.4,
      measuredAt: new Date(Date.UTC(2026, 10, 22, 1, 50)).toISOString(),
      old: false,
      verdict: link.verdict,
      reasons: link.reasons,
      simulated: true,
    })),
  );
}

/** The links of a cluster. */
export function linksOf(words: URLSearchParams): ModelLink[] {
  const count = Number(words.get("n") ?? 4);
  const names = namesOf(count);
  const shape = (words.get("shape") ?? "ring") as Cabling;
  const kind = (words.get("kind") ?? "rdma") as api.LinkKind;
  const bad = (words.get("bad") ?? "-1").split(",").map(Number);
  const reason = (words.get("why") ?? "link_below_ports") as api.Reason;
  const links: ModelLink[] = [];
  pairsOf(shape, names).forEach(([a, b], i) => {
    const speed = kind === "rdma" ? 70e9 + 8e9 * chance(i) : 52e9 + 9e9 * chance(i);
    const back = kind === "rdma" ? 70e9 + 8e9 * chance(i, 1) : 52e9 + 9e9 * chance(i, 1);
    const more: Partial<ModelLink> = {
      type: kind, kind: kind === "rdma" ? "tb5" : kind, latencyUs: kind === "rdma" ? 9 : 170,
      forwardBitsPerS: speed, backwardBitsPerS: back,
      negotiatedForwardBitsPerS: 80e9, negotiatedBackwardBitsPerS: 80e9,
    };
    if (bad.includes(i)) {
      Object.assign(more, {
        verdict: words.get("verdict") ?? "slow", reasons: [reason], type: "tb5", forwardBitsPerS: 31.2e9, backwardBitsPerS: 29.8e9, latencyUs: 171,
        negotiatedForwardBitsPerS: 40e9, negotiatedBackwardBitsPerS: 40e9,
        message: "The cable runs slower than both its ports can. Reseat it.",
      });
    }
    if (words.has("hub") && i === Number(words.get("hub"))) {
      more.hubs = ["Thunderbolt 5 Hub"];
    }
    links.push(cable(a, b, more));
    if (words.has("double")) {
      links.push(cable(a, b, { ...more, receptacleA: 2, verdict: "good", reasons: [] }));
    }
  });
  if (words.has("network")) {
    names.forEach((a, i) =>
      names.slice(i + 1).forEach((b) => links.push(network(a, b, words.get("network") === "wifi" ? "wifi" : "ethernet", { forwardBitsPerS: 9.4e9, backwardBitsPerS: 9.3e9, latencyUs: 210 }))),
    );
  }
  if (words.has("mixed")) {
    const kinds: api.LinkKind[] = ["rdma", "tb5", "tb4", "tb3", "unknown"];
    links.forEach((l, i) => (l.type = l.kind = kinds[i % kinds.length]!));
  }
  if (words.has("guest")) {
    const stranger = cable(names[0]!, "", { id: `${names[0]}:4?Book`, peerName: "Anna's MacBook", receptacleA: 4, verdict: "unknown" });
    for (const key of ["b", "forwardBitsPerS", "backwardBitsPerS", "latencyUs"] as const) {
      delete stranger[key];
    }
    links.push(stranger);
  }
  for (const link of links) {
    link.rows = rowsOf(link);
  }
  return links;
}

function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${["studio", "book", "mini", "studio", "air", "imac", "tower", "box"][i % 8]}-${i + 1}`);
}

/** The Macs of a cluster at a moment; tick counts the moments. */
export function nodesOf(words: URLSearchParams, tick: number): ModelNode[] {
  const count = Number(words.get("n") ?? 4) + (words.has("alone") ? 1 : 0);
  return namesOf(count).map((id, i) => {
    const [silhouette, modelName, chip, gigabytes] = cases[i % cases.length]!;
    const total = gigabytes * 2 ** 30;
    const ratio = 0.15 + 0.7 * chance(i, tick);
    const node = mac(id, {
      title: id, silhouette, modelName, chip, self: i === 0,
      memoryTotalBytes: total, memoryUsedBytes: total * ratio, memoryUsedRatio: ratio,
      gpuUseRatio: chance(i, tick, 2), powerWatts: 40 + 120 * chance(i, tick, 3), temperatureCelsius: 40 + 40 * chance(i, tick, 4),
      fp16Tflops: 23.6, memoryBytesPerS: 661e9,
    });
    if (words.has("away") && i === Number(words.get("away"))) {
      Object.assign(node, { reached: false, liveness: "unreachable", message: "It does not answer on any path." });
    }
    if (words.has("jobs") && i < 3) {
      node.jobs = ["train.py"];
    }
    if (words.has("warn") && i === 1) {
      node.severity = "warning";
    }
    return node;
  });
}

/** A whole cluster. */
export function modelOf(words: URLSearchParams, links: ModelLink[], tick: number): Model {
  return { nodes: nodesOf(words, tick), links, simulated: words.has("simulated") };
}

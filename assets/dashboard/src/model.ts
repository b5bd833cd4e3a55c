/**
 * What the drawing of the cluster shows: nodes and links, with everything that
 * their labels say as numbers with units in their names. It is plain data, made
 * anew from the documents at each change by modelOf; a value that is not known is
 * absent, never 0.
 *
 * @module
 */

import type * as api from "./api/types";

/** The shape of a computer's case, by which people know theirs. */
export type Silhouette = "studio" | "mini" | "laptop" | "imac" | "tower" | "server" | "generic";

/** The cluster as it is drawn. */
export interface Model {
  /** All nodes, ordered by id, so that what is drawn of them keeps its order. */
  nodes: ModelNode[];
  /** All links, ordered by id. */
  links: ModelLink[];
  /** Says that some of it is not real. */
  simulated: boolean;
}

/** One node. */
export interface ModelNode {
  id: api.NodeID;
  /** The short name, for people; the beginning of the id where none is known yet. */
  name: string;
  /** The friendly name as its owner wrote it. */
  title: string;
  /** Says that it is the node whose daemon serves the page. */
  self: boolean;
  simulated: boolean;
  silhouette: Silhouette;
  /** Such as Mac Studio. */
  modelName?: string;
  /** Such as Apple M3 Ultra. */
  chip?: string;
  liveness: api.Liveness;
  /** Says that it is reached now; what is known of the others is the last that was heard. */
  reached: boolean;
  /** Why it is not reached, for a person. */
  message?: string;
  /** The part of the memory in use, 0 to 1. */
  memoryUsedRatio?: number;
  memoryUsedBytes?: number;
  /** The memory in which its GPU computes; absent where it is not known. */
  gpuMemory?: api.GPUMemory;
  /** What its GPU may hold, or has of its own. */
  gpuWorkingSetBytes?: number;
  memoryTotalBytes?: number;
  pressure?: api.Pressure;
  /** 0 to 1. */
  gpuUseRatio?: number;
  /** The whole machine's where it is known, else the chip's. */
  powerWatts?: number;
  /** The GPU's hottest sensor, else the processor's. */
  temperatureCelsius?: number;
  /** Measured. */
  fp16Tflops?: number;
  /** Measured. */
  memoryBytesPerS?: number;
  /** Conditions of its heat, power and memory, in a few words, the worst first; absent where there are none. */
  strain?: string;
  /** The worst condition about the node, absent where there is none. */
  severity?: api.Severity;
  /** Names of the jobs with a rank there now. */
  jobs: string[];
}

/** What a link is made of, as it is coloured: rdma where RDMA is ready on the cable. */
export type LinkType = api.LinkKind;

/**
 * One line of the drawing: a cable, or all paths of one kind between two nodes
 * over a network that is not a cable of theirs (one Wi-Fi line a pair).
 */
export interface ModelLink {
  /** Stable: the cable's id; `END?NAME` of a cable whose other end is a stranger; `A~B/KIND` of a network. */
  id: string;
  /** The cable's id as the API takes it; absent of a network, and where the other end does not run Fulmen. */
  cable?: api.LinkID;
  /** The lower node id. Forward is from a to b. */
  a: api.NodeID;
  /** The higher node id, or a again where a cable joins two sockets of one Mac; absent where the other end does not run Fulmen. */
  b?: api.NodeID;
  /** What the other end calls itself where b is absent. */
  peerName?: string;
  /** The sockets at the ends, 1 to 255; absent of a network. */
  receptacleA?: number;
  receptacleB?: number;
  /** Where these are on the case. */
  placeA?: string;
  placeB?: string;
  type: LinkType;
  /** What the cable is without regard to RDMA: tb3, tb4, tb5; the same as type for a network. */
  kind: api.LinkKind;
  /** Absent of a network. */
  rdma?: api.RDMAVerdict;
  /** Names of the hubs in between, from a to b. */
  hubs: string[];
  /** What the ends negotiated, the slowest hop. */
  negotiatedForwardBitsPerS?: number;
  negotiatedBackwardBitsPerS?: number;
  /** Measured as what it is drawn, from a to b. */
  forwardBitsPerS?: number;
  /** The same from b to a. */
  backwardBitsPerS?: number;
  /** Half of the round trip; screens label it RTT/2. */
  latencyUs?: number;
  verdict: api.LinkVerdict;
  /** Why the verdict is not good, the one that decides it first. */
  reasons: api.Reason[];
  /** The first reason, for a person. */
  text?: string;
  muted: boolean;
  /** Says that one end cannot be reached: numbers are the last that were known. */
  stale: boolean;
  simulated: boolean;
  /** Counts this among the links of the same pair, from 0, cables by their sockets, then networks. */
  index: number;
  /** How many links the pair has. */
  parallel: number;
  /** The measured profiles, both directions, RDMA first, then by name. */
  rows: ModelRow[];
}

/** One measured profile: a row of the table of a link. */
export interface ModelRow {
  /** Unique among all rows. */
  key: string;
  from: api.NodeID;
  to: api.NodeID;
  /** Short names for the direction column. */
  fromName: string;
  toName: string;
  transport: api.Transport;
  type: api.LinkKind;
  /** From `from` to `to`. */
  upBitsPerS?: number;
  /** From `to` to `from`. */
  downBitsPerS?: number;
  /** Half of the round trip. */
  latencyUs?: number;
  /** Half of the round trip's jitter. */
  jitterUs?: number;
  /** What it gave with others of its kind between the two, at once. */
  together?: api.LinkTogether;
  measuredAt?: api.Time;
  /** Older than its TTL. */
  old: boolean;
  verdict: api.LinkVerdict;
  reasons: api.Reason[];
  simulated: boolean;
}

/** What is selected or picked in the drawing. */
export type Selection = { kind: "node"; id: api.NodeID } | { kind: "link"; id: string };

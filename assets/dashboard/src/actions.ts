/**
 * What a browser's token may not do: a page of this machine's daemon is no
 * administrator. The page offers the command instead, and a `fulmen:` link, which
 * the menu-bar app answers with a confirmation of its own.
 *
 * @module
 */

import type * as api from "./api/types";

/** One thing that needs an administrator. */
export interface AdminAction {
  label: string;
  /** The address that the app answers. */
  link: string;
  /** The command that does the same. */
  command: string;
}

function linkOf(method: api.MethodName, params: Record<string, string | boolean>): string {
  const query = Object.entries(params).map(([name, value]) => `${name}=${encodeURIComponent(String(value)).replaceAll("%3A", ":")}`);
  return `fulmen:${method}${query.length > 0 ? `?${query.join("&")}` : ""}`;
}

/** Quotes a word for a shell where that is needed. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_.:~/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function enableRDMA(link: api.LinkID): AdminAction {
  return { label: "Enable RDMA…", link: linkOf("rdma.enable", { links: link }), command: `fulmen rdma enable ${quoted(link)}` };
}

export function disableRDMA(link: api.LinkID): AdminAction {
  return { label: "Disable RDMA…", link: linkOf("rdma.disable", { links: link }), command: `fulmen rdma disable ${quoted(link)}` };
}

export function addMac(): AdminAction {
  return { label: "Add a Mac…", link: linkOf("cluster.pair", {}), command: "fulmen pair" };
}

/** Enters the code that an asking Mac shows. */
export function enterCode(peer: api.NodeID): AdminAction {
  return { label: "Enter its code…", link: linkOf("cluster.answer", { node: peer }), command: `fulmen pair --answer ${peer}` };
}

export function setAside(peer: api.NodeID, state: "later" | "ignored"): AdminAction {
  const verb = state === "later" ? "later" : "ignore";
  return { label: state === "later" ? "Later" : "Ignore", link: linkOf("cluster.answer", { node: peer, state }), command: `fulmen pending ${verb} ${peer}` };
}

export function share(jobs: "nobody" | "mapped"): AdminAction {
  return {
    label: jobs === "nobody" ? "Lend to nobody…" : "Lend to members…",
    link: linkOf("cluster.set_sharing", { jobs }),
    command: `fulmen sharing set jobs=${jobs}`,
  };
}

export function startDaemon(): AdminAction {
  return { label: "Start Fulmen…", link: linkOf("daemon.start", {}), command: "fulmen start" };
}

/** The one thing to do about a condition, as this page can do it. */
export type Remedy =
  /** The token may do it. */
  | { kind: "call"; label: string; method: api.MethodName; params: Record<string, string> }
  | { kind: "admin"; action: AdminAction }
  /** A page of the documentation, or of the system's settings. */
  | { kind: "open"; label: string; href: string }
  | { kind: "command"; label: string; command: string };

/** What a page may open: pages of the web and panes of macOS' settings, and nothing that runs. */
const openable = /^(https:|x-apple\.systempreferences:)/;

/** Turns the action of a condition into what the page offers; undefined where it can offer nothing. */
export function remedyOf(action: api.Action | undefined, classes: Readonly<Record<string, string>>): Remedy | undefined {
  if (action === undefined) return undefined;
  const { kind, label, target } = action;
  const params = action.params ?? {};
  switch (kind) {
    case "method": {
      const method = target as api.MethodName;
      if (classes[target] === undefined || classes[target] === "peer") return undefined;
      if (classes[target] !== "admin") return { kind: "call", label, method, params };
      return { kind: "admin", action: { label, link: linkOf(method, params), command: "" } };
    }
    case "settings":
    case "docs":
      return openable.test(target) ? { kind: "open", label, href: target } : undefined;
    case "command":
      return { kind: "command", label, command: target };
    default:
      return undefined;
  }
}

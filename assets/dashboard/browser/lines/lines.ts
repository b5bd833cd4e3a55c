/**
 * Says what the page shows of clusters, for a test that compares it with what the
 * other screens say: reads JSON lines from standard input and writes one for each.
 *
 * @module
 */

import { createInterface } from "node:readline";
import type { Component } from "svelte";
import { render } from "svelte/server";

import App from "../../src/App.svelte";
import { Session } from "../../src/api/session";
import type * as api from "../../src/api/types";
import { modelOf } from "../../src/model/build";
import { titleOf } from "../../src/model/headline";
import { sources } from "../../src/model/sample";
import Cluster from "../../src/pages/Cluster.svelte";
import Conditions from "../../src/pages/Conditions.svelte";
import Instances from "../../src/pages/Instances.svelte";
import JobPage from "../../src/pages/JobPage.svelte";
import Jobs from "../../src/pages/Jobs.svelte";
import Models from "../../src/pages/Models.svelte";
import NodePanel from "../../src/panels/NodePanel.svelte";
import { Documents } from "../../src/state/documents";
import { Live } from "../../src/state/live.svelte";
import { densityOf } from "../../src/topology/density";
import { alarmOf, calloutOf, colourOf, sentenceOf, textsOf } from "../../src/topology/edges";
import Mac from "../../src/topology/Mac.svelte";
import NodeCard from "../../src/topology/NodeCard.svelte";
import { settle } from "../../src/topology/steady";

interface Given {
  now: string;
  nodes: api.NodeView[];
  totals: api.Totals;
  docs: api.Document[];
  links: api.LinkListResult;
  conditions: api.NodeCondition[];
  headline: api.Headline;
  jobs: api.JobSummary[];
  models: api.ModelClusterResult;
  copies: api.ModelCopying[];
  instances: api.Instance[];
  endpoint: string;
  /** Of the person's own jobs, all. */
  whole: Record<string, { job: api.Job; ranks: api.Rank[] }>;
}

function htmlOf(component: unknown, props: Record<string, unknown>): string {
  return render(component as Component<Record<string, unknown>>, { props }).body;
}

/** What is counted beside the names of the pages, and what is asked above them. */
function frameOf(live: Live): Record<string, string> {
  const html = htmlOf(App, { live }).replace(/<!--.*?-->/gs, "");
  const plain = (part: string) => part.replace(/<span/g, " <span").replace(/<[^>]*>/g, "").replace(/\s+/g, " ").trim();
  const nav = /<nav.*?<\/nav>/s.exec(html)?.[0] ?? "";
  return {
    "page tabs": [...nav.matchAll(/<a .*?<\/a>/gs)].map(([tab]) => plain(tab)).join("\n"),
    "page asking": plain(/<div[^>]* data-asking.*?<\/div>/s.exec(html)?.[0] ?? ""),
    "page title": titleOf("Cluster", live.headline?.problems ?? 0, live.model.simulated),
  };
}

/** What a part of the page says, a line a row or fact, its cells divided by |; in brackets the colour of what follows. */
function textOf(component: unknown, props: Record<string, unknown>): string {
  return htmlOf(component, props)
    .replace(/\s+/g, " ")
    .replace(/<!--.*?-->|<(form|button)\b.*?<\/\1>|<(\w+) class="visually-hidden.*?<\/\2>/gs, "")
    .replace(/<div class="(bar \w+)[^>]*aria-valuenow="(\d+)".*?<\/div><\/div>/gs, " [$1 $2] ")
    .replace(/<(\w+)([^>]*)>/g, (tag: string, name: string, rest: string) => {
      const value = (key: string) => new RegExp(` ${key}="([^"]*)"`).exec(rest)?.[1]?.replace(/ ?svelte-\w+/g, "") ?? "";
      const look = value("class");
      if (rest.includes(" data-running=")) return `\n${value("data-running")} | `;
      if (rest.includes(" data-tile=")) return `\n${value("data-tile")} | `;
      if (look === "text" && value("role") === "status") return "\nheadline | ";
      if (rest.includes(" data-node=")) return `\n${value("aria-label")}\n`;
      if (/^(memory|sign)\b/.test(look)) return `\n[${look}]\n`;
      return look.startsWith("badge") || look === "trouble" ? ` [${look}]` : /^(h\d|tr|p|li|dl|div|text)$/.test(name) ? "\n" : tag;
    })
    .replace(/<\/t[dh]><\/tr>|<\/(?:tr|p|li|dd|h\d|text|div|dl)>/g, "\n")
    .replace(/<\/(?:td|dt|th)>/g, " | ")
    .replace(/<br\/?>/g, " / ")
    .replace(/<\/(?:span|a)>/g, " ")
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&")
    .split("\n").map((line) => line.replace(/\s+/g, " ").trim()).filter(Boolean).join("\n");
}

/** What the page shows, with all that it asks a daemon for given. */
function liveOf(given: Given): Live {
  const live = new Live(() => { throw new Error("there is no daemon"); }, new Session({ getItem: () => null, setItem() {}, removeItem() {} } as unknown as Storage));
  const docs = new Documents();
  docs.begin({ sub: "s", docs: given.docs });
  const { nodes, totals, conditions, headline, jobs, links: { cables, rows, networks } } = given;
  Object.assign(live, { nodes, totals, cables, conditions, headline, jobs, now: Date.parse(given.now), connection: { is: "open" }, ready: true,
    given: { ...given, ranksOf: (id: string) => new Map(given.whole[id]?.ranks.map((rank) => [`${rank.rank}`, { rank }])) },
    model: modelOf(sources({ nodes, cables, rows, networks: networks ?? [], conditions, jobs, facts: docs, metrics: docs })),
    value: docs.value.bind(docs), doc: docs.get.bind(docs), all: docs.all.bind(docs) });
  live.copies.take(given.copies);
  return live;
}

for await (const line of createInterface({ input: process.stdin })) {
  const given = JSON.parse(line) as Given;
  const live = liveOf(given);
  const { drawn } = settle(new Map(), live.model.links, new Set(live.model.nodes.map((node) => node.id)), 0);
  const lines = [...drawn].map(([id, d]) => ({
    id, stale: d.link.stale, style: d.type, colour: colourOf(d.type), verdict: d.verdict, reason: d.because.text, alarm: alarmOf(d), title: calloutOf(d)?.title, ...textsOf(d),
    sentence: sentenceOf(d, (node) => node),
  }));
  const none = () => {};
  const texts: Record<string, string> = {
    ...frameOf(live),
    "page cluster": textOf(Cluster, { live, route: { page: "cluster" } }), "page conditions": textOf(Conditions, { live }), "page jobs": textOf(Jobs, { live }),
    "page models": textOf(Models, { live }), "page instances": textOf(Instances, { live }),
  };
  const box = { x: 0, y: 0, width: 1000, height: 100 };
  for (const node of live.model.nodes) {
    texts[`mac ${node.id}`] = textOf(Mac, { node, box, density: densityOf(1, { width: 1000, height: 1000 }), selected: false, picking: false, stop: false, dragged: false, onpress: none, onkey: none, onchoose: none, onlook: none });
    texts[`card ${node.id}`] = textOf(NodeCard, { node });
    texts[`panel ${node.id}`] = textOf(NodePanel, { live, id: node.id, onclose: none });
  }
  for (const { job } of given.jobs) texts[`job ${job}`] = textOf(JobPage, { live, id: job });
  process.stdout.write(`${JSON.stringify({ lines, texts })}\n`);
}

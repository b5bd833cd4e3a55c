/**
 * Says what the page draws of graphs, for a test that compares it with what the
 * other screens say: reads JSON lines from standard input and writes one for each.
 *
 * @module
 */

import { createInterface } from "node:readline";

import type * as api from "../../src/api/types";
import { modelOf } from "../../src/model/build";
import { sources } from "../../src/model/sample";
import { alarmOf, calloutOf, colourOf, sentenceOf, textsOf } from "../../src/topology/edges";
import { settle } from "../../src/topology/steady";

interface Given {
  nodes: api.NodeView[];
  links: api.LinkListResult;
  conditions: api.NodeCondition[];
}

for await (const line of createInterface({ input: process.stdin })) {
  const { nodes, links, conditions } = JSON.parse(line) as Given;
  const model = modelOf(sources({ nodes, cables: links.cables, rows: links.rows, networks: links.networks ?? [], conditions }));
  const { drawn } = settle(new Map(), model.links, new Set(model.nodes.map((node) => node.id)), 0);
  const lines = [...drawn].map(([id, d]) => ({
    id, style: d.type, colour: colourOf(d.type), verdict: d.verdict, reason: d.because.text, alarm: alarmOf(d), title: calloutOf(d)?.title, ...textsOf(d),
    sentence: sentenceOf(d, (node) => node),
  }));
  process.stdout.write(`${JSON.stringify(lines)}\n`);
}

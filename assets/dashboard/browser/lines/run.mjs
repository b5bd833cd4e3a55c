/**
 * Runs lines.ts: makes one program of it and of the components that it renders, as they are
 * rendered where there is no browser. Effects do not run there, so that what a page asks for
 * itself it is given at the declaration.
 */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { rolldown } from "rolldown";
import { transformSync } from "rolldown/utils";
import { compile, compileModule } from "svelte/compiler";

/** What pages keep of what they asked for: the variable, and what of the cluster it is. */
const asked = {
  "pages/Models.svelte": { all: "models" },
  "pages/Instances.svelte": { all: "instances", endpoint: "endpoint" },
  "pages/JobPage.svelte": { job: "whole[id]?.job", ranks: "ranksOf(id)" },
};

function given(id, source) {
  for (const [page, variables] of Object.entries(asked)) {
    if (!id.endsWith(page)) continue;
    for (const [name, of] of Object.entries(variables)) {
      const before = source;
      source = source.replace(new RegExp(`let ${name} = \\$state[^;]*;`), `let ${name} = live.given.${of};`);
      if (source === before) throw new Error(`${page} has no ${name}`);
    }
  }
  return source;
}

const options = { generate: "server", dev: false };
const svelte = {
  name: "svelte",
  resolveId: (id) => (id.startsWith("uplot") ? "\0nothing.js" : undefined),
  load(id) {
    if (id === "\0nothing.js") return "export default class {}";
    if (id.endsWith(".svelte")) return { code: compile(given(id, readFileSync(id, "utf8")), { ...options, filename: id, css: "external" }).js.code, moduleType: "js" };
    if (id.endsWith(".svelte.ts")) return { code: compileModule(transformSync(id, readFileSync(id, "utf8")).code, { ...options, filename: id }).js.code, moduleType: "js" };
  },
};
const bundle = await rolldown({ input: join(import.meta.dirname, "lines.ts"), platform: "node", plugins: [svelte], logLevel: "silent" });
const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
const file = join(tmpdir(), `lines-${process.pid}.mjs`);
writeFileSync(file, output[0].code);
globalThis.location = { hash: "" };
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} }); // a wide window, by day
try {
  await import(pathToFileURL(file));
} finally {
  rmSync(file);
}

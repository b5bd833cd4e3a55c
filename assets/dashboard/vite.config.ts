import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

const dist = join(import.meta.dirname, "dist");

/**
 * The daemon embeds the folder as it is. The file that keeps it in the
 * repository stays, and beside each file that shrinks lies the same
 * compressed, so that the daemon compresses nothing.
 */
function forTheDaemon(): Plugin {
  return {
    name: "for-the-daemon",
    apply: "build",
    buildStart() {
      for (const name of readdirSync(dist)) {
        if (name !== ".keep") rmSync(join(dist, name), { recursive: true });
      }
    },
    closeBundle() {
      for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(html|js|css|svg)$/.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const whole = readFileSync(file);
        const small = gzipSync(whole, { level: 9 });
        if (small.length < whole.length) writeFileSync(file + ".gz", small);
      }
    },
  };
}

export default defineConfig({
  logLevel: "warn",
  plugins: [svelte(), forTheDaemon()],
  build: {
    target: "es2022",
    emptyOutDir: false,
    // A data: address would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});

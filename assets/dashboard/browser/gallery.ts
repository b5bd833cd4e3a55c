/**
 * The drawing alone, of clusters made up by words, without a daemon: built in
 * memory and answered to the browser by the test itself.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { svelte, vitePreprocess } from "@sveltejs/vite-plugin-svelte";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { build } from "vite";

/** An address that nobody has. */
const origin = "http://drawings.test";

interface Part {
  type: string;
  body: string | Buffer;
}

/** Builds the gallery, by path. */
async function parts(): Promise<Map<string, Part>> {
  const built = await build({
    root: join(import.meta.dirname, "../src/topology/gallery"),
    configFile: false,
    logLevel: "error",
    base: "/",
    plugins: [svelte({ configFile: false, preprocess: vitePreprocess(), compilerOptions: { runes: true } })],
    build: { write: false, target: "es2022", minify: false, modulePreload: { polyfill: false } },
  });
  const found = new Map<string, Part>();
  for (const output of Array.isArray(built) ? built : [built]) {
    if (!("output" in output)) continue;
    for (const file of output.output) {
      const type = file.fileName.endsWith(".css") ? "text/css" : file.fileName.endsWith(".html") ? "text/html" : "text/javascript";
      found.set(`/${file.fileName}`, { type, body: file.type === "chunk" ? file.code : Buffer.from(file.source) });
    }
  }
  return found;
}

/** Makes a context answer for the gallery, and opens it. */
export async function gallery(context: BrowserContext): Promise<Page> {
  const all = await parts();
  await context.route(`${origin}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    const part = all.get(path === "/" ? "/index.html" : path);
    await (part ? route.fulfill({ contentType: part.type, body: part.body }) : route.fulfill({ status: 204 }));
  });
  return await context.newPage();
}

/** Shows a cluster, and waits until it is drawn, and until nothing is pointed at. */
export async function show(page: Page, words: string): Promise<void> {
  await page.mouse.move(2, 2);
  await page.goto(`${origin}/#${words}`);
  // The one before may have as many Macs.
  await page.locator(`[data-words="${words}"]`).waitFor({ state: "attached" });
  const count = Number(new URLSearchParams(words).get("n"));
  await page.waitForFunction((n) => document.querySelectorAll("[data-node]").length === n && !document.querySelector("[data-card]"), count, { polling: 20 });
}

/** The windows at which the page is looked at: a phone's, half a screen's, a laptop's and a large one's. */
export const windows = [[390, 844], [900, 800], [1440, 900], [2560, 1440]] as const;

/** Gives the window a size, and waits until the picture is drawn for it. */
export async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.waitForFunction(([w, h]) => {
    const svg = document.querySelector("svg[data-scale]");
    const stage = svg?.parentElement;
    return innerWidth === w && innerHeight === h && stage && svg.clientWidth === stage.clientWidth && svg.clientHeight === stage.clientHeight;
  }, [width, height], { polling: 20 });
}

/** A box in the window, and what is in it. */
export interface Seen {
  what: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** All boxes of the drawing as the browser has them. */
export function boxes(page: Page): Promise<Seen[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('[data-box="node"], [data-box="label"], [data-box="callout"] rect')].map((element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      const name = element.closest("[data-node]")?.getAttribute("data-node") ?? element.closest("[data-of]")?.getAttribute("data-of");
      return { what: `${name} ${element.textContent}`, left, top, right, bottom };
    }),
  );
}

/** The left top corners of all Macs on the page, to a pixel, as "x y". */
export function placesOf(page: Page): Promise<Record<string, string>> {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll("[data-node]")].map((n): [string, string] => {
        const { x, y } = n.querySelector("[data-box]")!.getBoundingClientRect();
        return [n.getAttribute("data-node")!, `${Math.round(x + scrollX)} ${Math.round(y + scrollY)}`];
      }),
    ),
  );
}

/** The pairs of boxes that overlap by more than a hair. */
export function collisions(all: readonly Seen[], hair = 1): string[] {
  return all.flatMap((a, i) =>
    all
      .slice(i + 1)
      .filter((b) => a.left < b.right - hair && b.left < a.right - hair && a.top < b.bottom - hair && b.top < a.bottom - hair)
      .map((b) => `${a.what} / ${b.what}`),
  );
}

/** The side of the squares by which pictures are compared, in pixels: the edges of letters drown in them, lines do not. */
const square = 8;

/**
 * The part of the squares of a page, or of a part of it, whose mean colour is not
 * that of the picture that is kept, which has one pixel for each, 0 to 1. With
 * FULMEN_UPDATE set, the picture is replaced instead.
 */
export async function difference(page: Page, name: string, update = process.env["FULMEN_UPDATE"], of: Page | Locator = page): Promise<number> {
  const file = join(import.meta.dirname, "testdata", `${name}.png`);
  const now = await of.screenshot({ animations: "disabled", caret: "hide" });
  const blank = await page.context().newPage();
  const [part, small] = await blank.evaluate(
    async ([kept, shot, side]): Promise<[number, string]> => {
      const draw = async (png: string, by: number): Promise<OffscreenCanvas> => {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        const canvas = new OffscreenCanvas(Math.ceil(image.width / by), Math.ceil(image.height / by));
        const context = canvas.getContext("2d")!;
        context.imageSmoothingQuality = "high";
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return canvas;
      };
      const pixels = (canvas: OffscreenCanvas) => canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      const canvas = await draw(shot!, Number(side));
      if (kept === "") {
        const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
        return [0, btoa(String.fromCharCode(...bytes))];
      }
      const [a, b] = [pixels(await draw(kept!, 1)), pixels(canvas)];
      if (a.width !== b.width || a.height !== b.height) return [1, ""];
      let count = 0;
      for (let i = 0; i < a.data.length; i += 4) {
        const off = Math.max(...[0, 1, 2].map((k) => Math.abs(a.data[i + k]! - b.data[i + k]!)));
        if (off > 20) count++;
      }
      return [count / (a.width * a.height), ""];
    },
    [update ? "" : readFileSync(file).toString("base64"), now.toString("base64"), `${square}`],
  );
  await blank.close();
  if (update) writeFileSync(file, Buffer.from(small, "base64"));
  return part;
}

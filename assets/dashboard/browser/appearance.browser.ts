import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { difference } from "./gallery";
import { cluster, complaintsOf, done, launch, open, patience, picture, see } from "./harness";

let browser: Browser;
let page: Page;

/** The part that may differ: other machines draw letters a little differently, and a line of text more is more. */
const tolerance = 0.01;

beforeAll(async () => {
  browser = await launch();
  await done(cluster.fulmen("studio-1", ["measure", "link", "studio-1:4", "studio-1:5", "studio-1:6", "studio-2:6"]));
  await done(cluster.fulmen("studio-1", ["measure", "gpu", "studio-2"]));
  page = await open(await browser.newContext({ viewport: { width: 1320, height: 1500 }, reducedMotion: "reduce" }), "studio-1");
});

afterAll(async () => {
  expect(complaintsOf(page)).toEqual([]);
  await browser?.close();
});

/**
 * Puts the same words where a run has its own: ids, times and ages, versions, and
 * which of two ends comes first, as their ids say; and leaves out what grows with
 * time: charts, rows and earlier measurements. What the machine of the test is like
 * goes too: its MLX, and what is wrong with it rather than with the cable.
 */
async function still(): Promise<void> {
  await page.evaluate(() => {
    const fixed: [RegExp, string][] = [
      [/\b[0-9a-hjkmnp-tv-z]{16}\b/g, "0000000000000000"],
      [/\b[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}\b/g, "0000-0000-0000-0000"],
      [/\b\d\d:\d\d:\d\d\b/g, "00:00:00"],
      [/\b\d+\.\d+\.\d+\b/g, "0.0.0"],
      [/\b(under )?\d+ (s|min|h|d)\b|^now$/g, "1 min"],
      [/\bstudio-[12]\b/g, "studio-n"],
    ];
    document.querySelectorAll("[data-condition]").forEach((e) => {
      if (!e.textContent?.includes("The cable runs slower than both its ports can")) e.remove();
    });
    document.querySelectorAll("aside dt").forEach((label) => {
      if (label.textContent === "MLX" && label.nextElementSibling) label.nextElementSibling.textContent = "–";
    });
    document.querySelectorAll("aside .charts").forEach((e) => e.remove());
    document.querySelectorAll("caption").forEach((caption) => {
      if (/Earlier/.test(caption.textContent ?? "")) caption.closest(".scroll-x")?.remove();
    });
    const texts = document.createTreeWalker(document.querySelector("main")!, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const words = fixed.reduce((all, [from, to]) => all.replace(from, to), text.nodeValue ?? "");
      if (words !== text.nodeValue) text.nodeValue = words;
    }
  });
}

async function at(path: string): Promise<void> {
  // A page that is opened anew has none of the words that were put into another.
  await page.evaluate((to) => {
    location.hash = to;
  }, path);
  await page.reload();
  await see(page, '[data-connection="open"]');
}

async function cable(socket: string): Promise<string> {
  return (await cluster.call<{ cable: { link: string } }>("studio-1", "link.get", { link: socket })).cable.link;
}

/** What is compared: a place, what it is complete with, and the part of the page. */
const places: [string, () => Promise<string>, string[], string][] = [
  ["panel-slow-cable", async () => `/link/${await cable("studio-1:5")}`, ["aside >> text=Slow", 'aside [data-check="speed"][data-answer="no"]', "aside dd >> text=26.1 Gb/s"], "aside"],
  ["panel-rdma", async () => `/link/${await cable("studio-1:4")}`, ['aside [data-readiness="can_enable"]', "aside dd >> text=52.6 Gb/s"], "aside"],
  ["panel-mac", async () => `/node/${await cluster.id("studio-2")}`, ["aside >> text=23.6 TFLOPS", "aside >> text=31 of 512 GB", "aside dd >> text=/\\d W/"], "aside"],
  ["panel-job", async () => "/run", ["aside [data-plan] li"], "aside"],
  ["page-conditions", async () => "/conditions", ["main >> text=/slower|Slow|less than/"], "main"],
];

describe("with the times masked", () => {
  it.each(places)("%s looks as it did, by day and by night", async (name, path, complete, part) => {
    await at(await path());
    for (const selector of complete) await see(page, selector);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const file = `${name}-${colorScheme}`;
      let off = 1;
      // What comes a moment later, such as another Mac's condition, is waited for: this asserts what it waits for.
      const until = Date.now() + patience / 3;
      for (;;) {
        await still();
        off = await difference(page, file, process.env["FULMEN_UPDATE"], page.locator(part).first());
        if (off < tolerance || Date.now() > until) break;
        await page.waitForTimeout(500);
      }
      await picture(page, file);
      expect(off, file).toBeLessThan(tolerance);
    }
    await page.emulateMedia({ colorScheme: "light" });
  });
});

import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { boxes, collisions } from "./gallery";
import { cluster, complaintsOf, launch, open, picture, see } from "./harness";

let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1320, height: 860 }, reducedMotion: "reduce" });
  page = await open(context, "studio-1");
  await see(page, "[data-link]");
});

afterAll(async () => {
  await browser?.close();
});

/** The id of the cable in a socket. */
async function cable(socket: string): Promise<string> {
  const got = await cluster.call<{ cable: { link: string } }>("studio-1", "link.get", { link: socket });
  return got.cable.link;
}

describe("the picture of a real cluster", () => {
  it("shows all Macs and cables, and nothing over anything", async () => {
    for (const seat of await cluster.seats()) {
      await see(page, `[data-node="${seat.id}"]`);
    }
    for (const socket of ["studio-1:4", "studio-1:5", "studio-1:6", "mini:1"]) {
      await page.waitForSelector(`[data-link="${await cable(socket)}"]`, { state: "attached" });
    }
    expect(collisions(await boxes(page))).toEqual([]);
  });

  it("says which cable is the bad one", async () => {
    const bad = page.locator('[data-alarm="trouble"]');
    await bad.waitFor({ state: "attached" });
    expect(await bad.count()).toBe(1);
    expect(await bad.getAttribute("data-link")).toBe(await cable("studio-1:5"));
    expect(await page.locator('[data-box="callout"]').textContent()).toBe("Slow cable40.0 Gb/s, its ports can do more");
    await picture(page, "bad-cable");
  });

  it("shows what is measured over a cable when it has the focus, whole", async () => {
    await page.locator(`[data-link="${await cable("studio-1:4")}"]`).focus();
    const card = page.locator("[data-card]");
    await card.waitFor();
    const box = (await card.boundingBox())!;
    expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= 1320 && box.y + box.height <= 860).toBe(true);
    expect(await card.innerText()).toMatch(/studio-1:4 ↔ studio-2:4|studio-2:4 ↔ studio-1:4/);
    await picture(page, "cable-card");
    await page.keyboard.press("Escape");
  });

  it("hides the network that all are on, until it is asked for, and measures it between two others", async () => {
    const lines = await page.locator("[data-link]").count();
    await page.locator("button >> text=/Show networks/").click();
    await page.waitForFunction((n) => document.querySelectorAll("[data-link]").length > n, lines);
    expect(collisions(await boxes(page))).toEqual([]);
    await picture(page, "networks");
    const [book, mini] = [await cluster.id("book"), await cluster.id("mini")];
    await page.locator(`[data-link*="${book}"][data-link*="${mini}"]`).focus();
    await page.keyboard.press("Enter");
    await page.locator("aside button >> text=/^Measure/").click();
    await see(page, 'aside [data-over="socket"] >> text=1.17 Gb/s');
    await page.keyboard.press("Escape");
    await page.locator("button >> text=Hide networks").click();
    await page.waitForFunction((n) => document.querySelectorAll("[data-link]").length === n, lines);
  });

  it("keeps a Mac where it was dragged, also after a reload", async () => {
    const id = await cluster.id("mini");
    const mac = page.locator(`[data-node="${id}"] [data-box]`);
    const box = (await mac.boundingBox())!;
    await page.mouse.move(box.x + 50, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x - 60, box.y + 120, { steps: 6 });
    await page.mouse.up();
    const moved = (await mac.boundingBox())!;
    expect(Math.abs(moved.x - box.x) + Math.abs(moved.y - box.y)).toBeGreaterThan(60);
    const kept = await page.evaluate(() => localStorage.getItem("fulmen.positions"));
    await page.reload();
    await see(page, `[data-node="${id}"]`);
    const again = (await mac.boundingBox())!;
    // A measurement that comes meanwhile may change the size of the drawing a little.
    expect(Math.abs(again.x - moved.x) + Math.abs(again.y - moved.y)).toBeLessThan(30);
    expect(await page.evaluate(() => localStorage.getItem("fulmen.positions"))).toBe(kept);
    await page.locator("button >> text=Tidy up").click();
    expect(complaintsOf(page)).toEqual([]);
  });
});

import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { boxes, collisions } from "../gallery";
import { cluster, complaintsOf, launch, open, patience, picture, see } from "../harness";

/** The cables of the scenario: four meshes of four, each Mac joined to its like beside. */
const cables = 40;

let browser: Browser;
let context: BrowserContext;
let page: Page;
let debug: CDPSession;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  page = await open(context, "studio-1");
  debug = await context.newCDPSession(page);
  await debug.send("Performance.enable", { timeDomain: "threadTicks" });
});

afterAll(async () => {
  expect(complaintsOf(page)).toEqual([]);
  await browser?.close();
});

const all = (selector: string, count: number) =>
  page.waitForFunction(([s, n]) => document.querySelectorAll(s!).length === Number(n), [selector, `${count}`] as const, { timeout: patience, polling: 50 });

async function task(): Promise<number> {
  const { metrics } = await debug.send("Performance.getMetrics");
  return metrics.find((m) => m.name === "TaskDuration")!.value;
}

describe("sixteen daemons", () => {
  it("are all in the picture, with every cable, and nothing over anything", async () => {
    await all("[data-node]", 16);
    await all("[data-link]", cables);
    await see(page, "[data-headline='good']:has-text('16 Macs')");
    await see(page, '[data-tile="power"] >> text=/\\d W/');
    expect(collisions(await boxes(page))).toEqual([]);
    await picture(page, "sixteen-daemons");
  });

  it("are drawn again soon after a reload", async () => {
    await page.reload();
    await all("[data-node]", 16);
    console.log(`sixteen daemons are drawn ${Math.round(await page.evaluate(() => performance.now()))} ms after the page was asked for`);
  });

  it("leave the page's main thread free", async () => {
    const [began, before] = [performance.now(), await task()];
    await page.waitForTimeout(8_000);
    const busy = (100_000 * ((await task()) - before)) / (performance.now() - began);
    console.log(`its main thread is busy for ${busy.toFixed(1)} % of the time`);
    expect(busy).toBeLessThan(25);
  });

  it("show a cable that is pulled, and a Mac that is lost", async () => {
    const { cable } = await cluster.call<{ cable: { link: string } }>("studio-1", "link.get", { link: "studio-1:4" });
    await page.waitForSelector(`[data-link="${cable.link}"]`, { state: "attached" });
    const began = Date.now();
    await cluster.simulate("unplug studio-1.tb4");
    await page.waitForFunction((id) => document.querySelector(`[data-link="${id}"]`)?.getAttribute("data-verdict") === "gone", cable.link, { timeout: patience, polling: 20 });
    console.log(`a pulled cable is gone from the picture after ${Date.now() - began} ms`);
    await cluster.end("studio-16");
    await see(page, "[data-headline] >> text=/^studio-16 .*answer/");
    await cluster.boot("studio-16");
    await see(page, "[data-headline='good']:has-text('16 Macs')");
  });
});

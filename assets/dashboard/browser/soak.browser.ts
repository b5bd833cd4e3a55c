import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cluster, launch, open, see } from "./harness";

/** How long there is churn, ms; the long one is for the soak. */
const long = 10 * 60_000;

let browser: Browser;
let page: Page;
let debug: CDPSession;

beforeAll(async () => {
  if (!process.env["FULMEN_SOAK"]) return;
  browser = await launch();
  const context = await browser.newContext({ viewport: { width: 1320, height: 860 } });
  page = await open(context, "studio-1");
  debug = await context.newCDPSession(page);
});

afterAll(async () => {
  await browser?.close();
});

async function heap(): Promise<number> {
  await debug.send("HeapProfiler.collectGarbage");
  return (await debug.send("Runtime.getHeapUsage")).usedSize;
}

async function at(path: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, path);
  await see(page, "main h1, aside");
}

describe.skipIf(!process.env["FULMEN_SOAK"])("for ten minutes of churn", () => {
  it("the page keeps to its memory", { timeout: 2 * long }, async () => {
    const ends = Date.now() + long;
    const studio = await cluster.id("studio-2");
    let after = 0;
    for (let round = 0; Date.now() < ends; round++) {
      await cluster.simulate("unplug studio-1.tb4");
      await at(`/node/${studio}`);
      await cluster.simulate("plug studio-1.tb4 studio-2.tb4");
      for (const path of ["/", "/jobs", "/settings", "/run", "/events"]) await at(path);
      if (round === 20) after = await heap();
    }
    const most = after + 6 * 2 ** 20;
    const now = await heap();
    console.log(`the page holds ${(now / 2 ** 20).toFixed(1)} MB, after the first rounds ${(after / 2 ** 20).toFixed(1)} MB`);
    expect(now).toBeLessThan(most);
  });
});

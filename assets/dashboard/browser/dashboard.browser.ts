import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { cluster, complaintsOf, inaccessible, launch, open, patience, picture, see } from "./harness";

let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1320, height: 860 } });
  page = await open(context, "studio-1");
});

afterAll(async () => {
  await browser?.close();
});

afterEach(() => {
  expect(complaintsOf(page)).toEqual([]);
});

const text = async (selector: string) => (await page.locator(selector).first().innerText()).replaceAll("\u00a0", " ");

describe("the page", () => {
  it("is opened by a secret that leaves the address, and says that nothing of it is real", async () => {
    expect(page.url()).toMatch(/\/#\/$/);
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
    await see(page, "text=SIMULATED");
    await see(page, '[data-tile="compute"] >> text=TFLOPS');
    expect(await text("[data-members]")).toBe("4 Macs");
    await picture(page, "cluster");
  });

  it("is whole again after a reload", async () => {
    await page.reload();
    await see(page, '[data-connection="open"]');
    await see(page, '[data-tile="memory"] >> text=/of \\d+ GB/');
  });

  it("does not come in without a key", async () => {
    const other = await context.newPage();
    await other.goto(page.url());
    await see(other, "text=fulmen dashboard");
    await other.close();
  });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { cluster, complaintsOf, done, inaccessible, launch, open, picture, see } from "./harness";

let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launch();
  page = await open(await browser.newContext({ viewport: { width: 1100, height: 800 } }), "studio-1", "/pairing");
});

afterAll(async () => {
  await browser?.close();
});

afterEach(() => {
  expect(complaintsOf(page)).toEqual([]);
});

describe("a Mac that asks", () => {
  it("is in the inbox, is added by its code at the command line, and is in the picture", async () => {
    const guest = await cluster.guest();
    const { code } = await cluster.call<{ code: string }>("guest", "cluster.pair");
    const entry = `[data-pending="${guest.id}"]`;
    await see(page, entry);
    expect(await page.locator(`${entry} a.button`).first().getAttribute("href")).toContain(guest.id);
    expect(await inaccessible(page)).toEqual([]);
    await picture(page, "pairing-inbox");
    await page.evaluate(() => {
      location.hash = "/jobs";
    });
    await see(page, "[data-asking]:has-text('1 Mac asks to join')"); // on every other page
    await page.click("[data-asking] a");
    await see(page, entry);

    await done(cluster.fulmen("studio-1", ["pair", "--answer", guest.id], `${code}\n`));
    await page.waitForSelector(entry, { state: "detached" });
    await page.evaluate(() => {
      location.hash = "/";
    });
    await see(page, `[data-node="${guest.id}"]`);
    await see(page, "[data-members]:has-text('5 Macs')");

    await cluster.call("studio-1", "cluster.remove", { nodes: [guest.id] }); // the next tests find the desk as it was
    await page.waitForSelector(`[data-node="${guest.id}"]`, { state: "detached" });
    await see(page, "[data-members]:has-text('4 Macs')");
  });
});

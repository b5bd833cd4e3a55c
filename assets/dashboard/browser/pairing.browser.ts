import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { account, cluster, complaintsOf, done, inaccessible, launch, open, picture, see } from "./harness";

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
    const guest = await cluster.guest("guest");
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

    await cluster.call("studio-1", "cluster.remove", { nodes: [guest.id] }); // the next tests find the desk as it was
    await page.waitForSelector(`[data-node="${guest.id}"]`, { state: "detached" });
  });
});

describe("the first minutes", () => {
  it("take a Mac that is alone to a job over two, in six clicks and one code", async () => {
    const first = await cluster.guest("new-1");
    const second = await cluster.guest("new-2");
    const alone = await open(await browser.newContext({ viewport: { width: 1100, height: 800 } }), "new-1");
    const form = await open(await browser.newContext(), "new-1", "/run");
    const asksFor = (at: Page, macs: string) => at.waitForFunction((n) => document.querySelector<HTMLInputElement>("[name=ranks]")?.value === n, macs);
    await asksFor(form, "1");
    let clicks = 0;
    const click = (selector: string) => (clicks++, alone.locator(selector).click());
    const step = (name: string, done: boolean) => see(alone, `[data-step="${name}"][data-done="${done}"]`);

    for (const name of ["add", "run"]) await step(name, false);
    await see(alone, 'svg a:has-text("no Fulmen")'); // the other one, at the end of its cable
    expect(await inaccessible(alone)).toEqual([]);
    await picture(alone, "first-steps");

    await step("measure", true); // by itself, since somebody looks; the button is for who does not want to wait
    await click('svg a:has-text("no Fulmen")');
    await see(alone, "text=fulmen join");
    clicks++; // Add a Mac, which the menu-bar app answers
    expect(await alone.locator("a:has-text('Add a Mac')").getAttribute("href")).toBe("fulmen:cluster.pair");
    const { code } = await cluster.call<{ code: string }>("new-1", "cluster.pair");
    await cluster.call("new-2", "cluster.join", { node: first.id, code, account }); // typed at the other one
    await click("nav >> text=Cluster");
    await step("add", true);
    await see(alone, `[data-node="${second.id}"]`);
    await asksFor(form, "2"); // also where the form was open before

    await click('[data-step="run"] a');
    await asksFor(alone, "2");
    await see(alone, "[data-plan=ring], [data-plan=jaccl]");
    await alone.fill("[name=command]", "/bin/sh -c 'echo I am $MLX_RANK'");
    await click("button:text-is('Run')");
    await see(alone, '[data-phase="succeeded"][data-over="true"]');
    await see(alone, "[data-logs] >> text=I am 1");
    expect(clicks).toBeLessThanOrEqual(6);
    expect([complaintsOf(alone), complaintsOf(form)]).toEqual([[], []]);
  });
});

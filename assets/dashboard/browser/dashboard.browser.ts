import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { enableRDMA } from "../src/actions";
import type * as api from "../src/api/types";
import { boxes, collisions, placesOf, resize, windows } from "./gallery";
import { cluster, complaintsOf, done, inaccessible, launch, open, patience, picture, see } from "./harness";

let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launch();
  await done(cluster.fulmen("studio-1", ["measure", "link", "studio-1:4", "studio-1:5", "studio-1:6", "studio-2:6"]));
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
    const { headline } = await cluster.call<api.NodeConditionsResult>("studio-1", "node.conditions");
    await see(page, '[data-headline="warn"]');
    expect(await text("[data-headline] .text")).toBe(headline.text);
    expect(headline.text).toMatch(/^The cable runs slower .*\(SIMULATED\)$/);
    expect(await page.title()).toBe(`(${headline.problems}) SIMULATED – Cluster – Fulmen`);
    await see(page, "[data-headline] >> text=Show the cable");
    await see(page, "text=52.9 Gb/s");
    await picture(page, "cluster");
  });

  it("is whole again after a reload, soon", async () => {
    await page.reload();
    await page.waitForSelector("[data-node] >> nth=3");
    console.log(`the picture is there ${Math.round(await page.evaluate(() => performance.now()))} ms after the page was asked for`);
    await see(page, '[data-tile="memory"] >> text=/of \\d+ GB/');
  });

  it("does not come in without a key", async () => {
    const other = await context.newPage();
    await other.goto(page.url());
    await see(other, "text=fulmen dashboard");
    expect(await inaccessible(other)).toEqual([]);
    await other.close();
  });
});

// It takes others some ten seconds to be sure that a Mac does not answer; meanwhile every page is looked at.
describe("while a Mac is lost, every page", () => {
  beforeAll(() => cluster.end("mini"));

  it.each(["/", "/jobs", "/conditions", "/pairing", "/events", "/settings"])("is accessible and marked as simulated at %s, by day and by night, also on a phone", async (path) => {
    await at(path);
    const found: string[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await see(page, "header >> text=SIMULATED");
      found.push(...(await inaccessible(page, colorScheme === "dark")).map((problem) => `${colorScheme}: ${problem}`));
      await picture(page, `${path.slice(1) || "cluster"}-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 390, height: 844 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await picture(page, `${path.slice(1) || "cluster"}-phone`);
    await page.setViewportSize({ width: 1320, height: 860 });
    expect(found).toEqual([]);
    expect(wide).toBe(0);
  });

  it("shows it as not reached, and as it comes back", async () => {
    const id = await cluster.id("mini");
    await at(`/node/${id}`);
    await see(page, 'aside >> text="Not reached"');
    await see(page, "[data-headline] >> text=/^mini .*answer/");
    await picture(page, "lost");
    await told("mini no longer answers");
    await cluster.boot("mini");
    await see(page, "aside >> text=Connected");
    await see(page, "[data-headline]:not(:has-text('mini'))");
    await at("/events");
    await see(page, '[data-event="node_lost"] >> text=mini no longer answers');
    await see(page, '[data-event="node_reached"] >> text=mini is connected');
  });
});

describe("a Mac", () => {
  it("shows its facts, what it does now, what was measured and what it lends", async () => {
    const id = await cluster.id("studio-2");
    await at("/");
    await page.locator(`[data-node="${id}"]`).first().click();
    await page.waitForURL(`**/#/node/${id}`);
    await see(page, "aside >> text=Apple M3 Ultra");
    await see(page, "aside canvas");
    expect(await text("aside")).toMatch(/31 of 512 GB[\s\S]*23\.6 TFLOPS[\s\S]*661 GB\/s/);
    await page.waitForFunction(() => (document.querySelector("aside figure strong")?.textContent ?? "–") !== "–");
    if (process.env["FULMEN_PICTURES"]) await page.waitForTimeout(6000); // a line that can be seen
    await picture(page, "node");
    expect(await inaccessible(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForURL("**/#/");
  });

  it("measures again when it is asked to", async () => {
    await at(`/node/${await cluster.id("studio-2")}`);
    await page.locator("aside button >> text=Measure again").click();
    await see(page, "aside [role=status]:not(:empty)");
  });
});

describe("the picture", () => {
  it.each(windows)("stays where a panel opens, in a window of %i x %i", async (width, height) => {
    await at("/");
    await resize(page, width, height);
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    const isSheet = width <= 900;
    const before = await placesOf(page);
    const link = page.locator(`[data-link="${await cable("studio-1:5")}"]`);
    await link.focus();
    await page.keyboard.press("Enter");
    await see(page, 'aside [data-over="socket"]');
    expect(await placesOf(page)).toEqual(before);
    if (isSheet) await page.waitForSelector("[data-card]", { state: "detached" }); // the link's, which had the focus
    const panel = (await page.locator("aside").boundingBox())!;
    expect(panel.x >= 0 && panel.y >= 0 && panel.x + panel.width <= width && panel.y + panel.height <= height).toBe(true);
    expect(await page.evaluate(() => document.querySelector("aside")!.scrollWidth - document.querySelector("aside")!.clientWidth)).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe(isSheet ? "ASIDE" : "g");
    if (width === windows[0][0]) {
      for (const colorScheme of ["dark", "light"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await inaccessible(page, colorScheme === "light"), colorScheme).toEqual([]);
        await picture(page, `sheet-${colorScheme}`);
      }
    }
    for (const less of [width - 30, width]) {
      await resize(page, less, height);
      expect(await wide()).toBe(0);
    }
    await page.keyboard.press("Escape");
    await page.waitForSelector("aside", { state: "detached" });
    expect(await placesOf(page)).toEqual(before);
    expect(collisions(await boxes(page))).toEqual([]);
    expect(await link.evaluate((e) => e === document.activeElement)).toBe(true);
    await link.blur();
    if (!isSheet) expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0);
    await page.setViewportSize({ width: 1320, height: 860 });
  });
});

describe("a cable", () => {
  it("that is slow says so, and why RDMA is not possible over it", async () => {
    await at(`/link/${await cable("studio-1:5")}`);
    await see(page, "aside >> text=Slow");
    await see(page, 'aside [data-check="speed"][data-answer="no"]');
    await picture(page, "slow-cable");
    expect(await inaccessible(page)).toEqual([]);
  });

  it("of Thunderbolt 4 offers no RDMA, and says why not", async () => {
    await at(`/link/${await cable("mini:1")}`);
    await see(page, 'aside [data-readiness="cannot"]');
    await see(page, 'aside [data-check="port_tb5"][data-answer="no"]');
    expect(await page.locator("aside a[href^='fulmen:']").count()).toBe(0);
  });

  it("is enabled for RDMA by the command that the page names, and the page follows", async () => {
    const id = await cable("studio-1:4");
    await at(`/link/${id}`);
    await see(page, 'aside [data-readiness="can_enable"]');
    const offer = page.locator("aside a.button.primary");
    expect(await offer.getAttribute("href")).toBe(enableRDMA(id).link);
    await picture(page, "rdma-can-enable");
    const command = (await page.locator("aside .admin code").first().innerText()).split(" ").slice(1);
    expect(command).toEqual(["rdma", "enable", id]);
    const refused = await cluster.fulmen("studio-1", command); // nobody at the other Mac has allowed it
    expect(refused.status).toBe(1);
    expect(await page.locator("aside [data-rdma]").getAttribute("data-rdma")).toBe("can_enable");

    await cluster.call("studio-2", "cluster.set_sharing", { rdma_changes: "members" });
    await done(cluster.fulmen("studio-1", command));
    await see(page, 'aside [data-rdma="ready"]');
    await see(page, 'aside [data-readiness="ready"]');
    await see(page, `[data-link="${id}"][data-type="rdma"]`);
    await picture(page, "rdma-ready");
    await cluster.fulmen("studio-1", ["rdma", "disable", id]);
    await see(page, 'aside [data-readiness="can_enable"]');
  });

  it("whose Mac must be visited for RDMA is listed with the steps, until that is done", async () => {
    const book = await cluster.id("book");
    await at("/conditions");
    await cluster.simulate("set book.rdma off");
    await see(page, `[data-errand="${book}"] ol li`);
    expect(await inaccessible(page)).toEqual([]);
    await picture(page, "errand");
    await cluster.simulate("set book.rdma on");
    await page.waitForFunction((node) => {
      const errand = document.querySelector(`[data-errand="${node}"]`);
      return errand === null || (errand.textContent ?? "").includes("is done");
    }, book, { timeout: patience });
  });

  it("that is pulled is gone from the picture, and there again when it is plugged", async () => {
    await at("/");
    const id = await cable("studio-1:4");
    const link = `[data-link="${id}"]`;
    await see(page, link);
    const began = Date.now();
    await cluster.simulate("unplug studio-1.tb4");
    await page.waitForFunction((selector) => {
      const found = document.querySelector(selector);
      return found === null || found.getAttribute("data-verdict") === "gone";
    }, link, { timeout: patience, polling: 20 });
    console.log(`a pulled cable is gone from the picture after ${Date.now() - began} ms`);
    await told("Cable pulled: studio-1:4 to studio-2:4");
    await cluster.simulate("plug studio-1.tb4 studio-2.tb4");
    await page.waitForFunction((selector) => {
      const found = document.querySelector(selector);
      return found !== null && found.getAttribute("data-verdict") !== "gone";
    }, link, { timeout: patience });
    await at("/events");
    await see(page, "text=Cable pulled: studio-1:4 to studio-2:4");
    await see(page, "text=Cable plugged: studio-1:4 to studio-2:4");
    // A page that was opened only now knows of it too, and so does the command line.
    const later = await open(context, "studio-1", "/events");
    await see(later, "text=Cable pulled: studio-1:4 to studio-2:4");
    await later.close();
    expect((await cluster.fulmen("studio-1", ["events"])).out).toMatch(/warning +Cable pulled: studio-1:4 to studio-2:4\./);
  });
});

/** Waits until the daemon tells of something: it looks a moment after the picture, and what came and went until then is no event. */
const told = (words: string) =>
  expect.poll(async () => (await cluster.fulmen("studio-1", ["events"])).out, { timeout: patience, interval: 200 }).toContain(words);

/** Goes to a place on the page. */
async function at(path: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, path);
  await see(page, "main h1, aside");
}

/** The id of the cable in a socket. */
async function cable(socket: string): Promise<string> {
  const { cable } = await cluster.call<{ cable: { link: string } }>("studio-1", "link.get", { link: socket });
  return cable.link;
}

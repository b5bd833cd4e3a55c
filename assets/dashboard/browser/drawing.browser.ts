import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { boxes, collisions, difference, gallery, placesOf, show, windows } from "./gallery";
import { inaccessible, launch, picture } from "./harness";

let browser: Browser;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];

/** The part of a picture that may differ: other machines draw letters a little differently, and a missing cable is more. */
const tolerance = 0.002;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1280, height: 720 }, reducedMotion: "reduce" });
  page = await gallery(context);
  page.on("pageerror", (error) => complaints.push(String(error)));
});

afterAll(async () => {
  await browser?.close();
  expect(complaints).toEqual([]);
});

describe("the boxes that the browser draws", () => {
  const shapes = ["ring", "mesh", "star"];
  it.each(shapes.flatMap((shape) => [2, 3, 4, 5, 6, 7, 8].map((n) => [shape, n] as const)))("of a %s of %i do not overlap", async (shape, n) => {
    await show(page, `shape=${shape}&n=${n}&bad=0&jobs=1&hub=1`);
    const all = await boxes(page);
    const edges = await page.locator("[data-link]").count();
    const even = await page.locator('[data-role="both"]').count();
    // Two speeds and a delay for each edge, or one for both ways, a callout, and the Macs: nothing was left out.
    expect(all).toHaveLength(3 * edges - 2 * even + 1 + n);
    expect(collisions(all)).toEqual([]);
    for (const box of all) {
      expect(box.left >= 0 && box.top >= 0 && box.right <= 1280 && box.bottom <= 720, box.what).toBe(true);
    }
  });

  it("do not overlap on a phone, in two cables a pair, of many bad ones, or of sixteen", async () => {
    for (const words of ["shape=ring&n=4&double=1", "shape=mesh&n=5&bad=0,1,2,3,4,5,6,7", "shape=mesh&n=16&bad=30"]) {
      await show(page, words);
      expect(collisions(await boxes(page))).toEqual([]);
    }
    // Of two cables between the same Macs, what is said of one does not cover the other.
    await show(page, "shape=ring&n=3&double=1&bad=0,1,2");
    const covered = await page.evaluate(() => {
      const callouts = [...document.querySelectorAll('[data-box="callout"] rect')].map((e) => e.getBoundingClientRect());
      return [...document.querySelectorAll<SVGPathElement>("[data-link] .line")].filter((line) => {
        const { a, b, c, d, e, f } = line.getScreenCTM()!;
        return Array.from({ length: 50 }, (_, i) => line.getPointAtLength((line.getTotalLength() * i) / 49)).some(({ x, y }) => {
          const [left, top] = [a * x + c * y + e, b * x + d * y + f];
          return callouts.some((box) => left > box.left && left < box.right && top > box.top && top < box.bottom);
        });
      }).length;
    });
    expect([covered, await page.locator('[data-box="callout"]').count()]).toEqual([0, 3]);
    await page.setViewportSize({ width: 390, height: 700 });
    for (const words of ["shape=mesh&n=4&bad=1", "shape=ring&n=4&double=1&bad=1", "shape=ring&n=2", "shape=star&n=5", "shape=mesh&n=16&bad=30"]) {
      await show(page, words);
      expect(collisions(await boxes(page)), words).toEqual([]);
      expect(await page.locator('[data-box="callout"]').count(), words).toBe(words.includes("bad") ? 1 : 0); // numbers give way to it
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it("have room for the texts in them", async () => {
    await show(page, "shape=mesh&n=6&jobs=1&away=2&warn=1");
    const out = await page.evaluate(() =>
      [...document.querySelectorAll("[data-node]")].flatMap((mac) => {
        const card = mac.querySelector("[data-box]")!.getBoundingClientRect();
        return [...mac.parentElement!.querySelectorAll("text")]
          .map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }))
          .filter(({ box }) => box.left < card.left || box.right > card.right || box.bottom > card.bottom + 1)
          .map(({ text }) => text);
      }),
    );
    expect(out).toEqual([]);
  });
});

describe("the bad cable", () => {
  it.each(windows)("is one, has a sign and says so, in a window of %i x %i, by day and by night", async (width, height) => {
    await page.setViewportSize({ width, height });
    await show(page, "shape=mesh&n=4&bad=2&simulated=1");
    const bad = page.locator('[data-alarm="trouble"]');
    expect(await bad.count()).toBe(1);
    expect(await bad.locator('[data-box="sign"]').count()).toBe(1);
    expect(await page.locator('[data-box="callout"]').allTextContents()).toEqual(["Slow cable40.0 Gb/s, its ports can do more"]);
    expect(collisions(await boxes(page))).toEqual([]);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `drawing-bad-cable-${width}-${colorScheme}`);
      expect(await difference(page, `bad-cable-${width}-${colorScheme}`), colorScheme).toBeLessThan(tolerance);
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it("that is pulled shows at once, and stays quiet for a while when it is back", async () => {
    await show(page, "shape=ring&n=4");
    await page.waitForSelector('[data-twin="links"]', { state: "attached" });
    const id = await page.locator("[data-link]").last().getAttribute("data-link");
    const link = page.locator(`[data-link="${id}"]`);
    await page.evaluate((pulled) => (window as unknown as { pull(ids: string[]): void }).pull([pulled!]), id);
    await page.waitForSelector(`[data-link="${id}"][data-verdict="gone"]`, { state: "attached" });
    expect(await page.locator('[data-box="callout"]').allTextContents()).toEqual(["Cable pulled"]);
    await page.evaluate(() => (window as unknown as { pull(ids: string[]): void }).pull([]));
    await page.waitForSelector(`[data-link="${id}"][data-verdict="good"]`, { state: "attached" });
    expect(await link.getAttribute("data-alarm")).toBe("none");
  });
});

describe("hover and focus", () => {
  it("show the measurements of a cable, never cut off by the window", async () => {
    for (const [width, height] of [[1280, 720], [390, 640]] as const) {
      await page.setViewportSize({ width, height });
      await show(page, "shape=ring&n=4&network=1&bad=2");
      for (const link of await page.locator("[data-link]").all()) {
        await link.focus();
        const card = page.locator("[data-card]");
        await card.waitFor();
        expect(await card.locator("tbody tr").count()).toBe((await link.getAttribute("data-type")) === "rdma" ? 6 : 4);
        const box = (await card.boundingBox())!;
        expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height).toBe(true);
        expect(await card.locator("thead").first().innerText()).toMatch(/Direction\s+Type\s+Up\s+Down\s+RTT\/2\s+Jitter\/2\s+Age\s+Verdict/);
      }
      await page.keyboard.press("Escape");
      await page.locator("[data-card]").waitFor({ state: "detached" });
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it("find a cable by the pointer, and let the pointer onto its card", async () => {
    await show(page, "shape=ring&n=4&bad=0");
    const line = (await page.locator('[data-alarm="trouble"]').boundingBox())!;
    await page.mouse.move(line.x + line.width * 0.3, line.y + line.height * 0.5);
    const card = page.locator("[data-card]");
    await card.waitFor();
    const box = (await card.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForTimeout(400); // longer than a card stays by itself
    expect(await card.count()).toBe(1);
    await page.mouse.move(5, 5);
    await card.waitFor({ state: "detached" });
  });

  it("give numbers to what is looked at among sixteen", async () => {
    await show(page, "shape=mesh&n=16");
    expect(await page.locator('[data-box="label"]').count()).toBe(0);
    await page.locator("[data-node]").first().focus();
    await page.waitForFunction(() => document.querySelectorAll('[data-box="label"]').length > 10);
    await page.locator("[data-card] >> text=Memory bandwidth").waitFor();
    expect(collisions(await boxes(page))).toEqual([]);
  });
});

describe("a Mac", () => {
  it("that is dragged stays there, also after a reload, and moves nobody", async () => {
    await show(page, "shape=ring&n=4");
    const before = await placesOf(page);
    const mac = page.locator('[data-node="mini-3"]');
    const box = (await mac.boundingBox())!;
    await page.mouse.move(box.x + 40, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x - 160, box.y + 160, { steps: 8 });
    await page.mouse.up();
    const after = await placesOf(page);
    expect(after["mini-3"]).not.toBe(before["mini-3"]);
    await page.reload();
    await page.waitForSelector("[data-node]");
    expect(await placesOf(page)).toEqual(after);
    expect({ ...after, "mini-3": "" }).toEqual({ ...before, "mini-3": "" });
    expect(await mac.getAttribute("aria-pressed")).toBe("false"); // a drag is no click
    await page.locator("button >> text=Tidy up").click();
    expect((await placesOf(page))["mini-3"]).toBe(before["mini-3"]);
  });

  it("is reached, chosen and moved by keys: two stops of the Tab key hold all links and all Macs", async () => {
    await show(page, "shape=mesh&n=5");
    expect(await page.locator("svg [tabindex='0']").count()).toBe(2);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-node"));
    await page.locator("svg [data-node][tabindex='0']").focus();
    const first = await focused();
    await page.keyboard.press("End");
    expect(await focused()).not.toBe(first);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Home");
    expect(await focused()).toBe(first);
    await page.keyboard.press("Enter");
    expect(await page.locator(`[data-node="${first}"]`).getAttribute("aria-pressed")).toBe("true");
    const before = await placesOf(page);
    await page.keyboard.press("Shift+ArrowRight");
    expect((await placesOf(page))[first!]).not.toBe(before[first!]);
  });

  it("is picked for a job", async () => {
    await show(page, "shape=mesh&n=3&picking=1");
    const mac = page.locator("[data-node]").first();
    await mac.click();
    expect(await mac.getAttribute("aria-label")).toMatch(/, required$/);
    await mac.click();
    expect(await mac.getAttribute("aria-label")).toMatch(/, excluded$/);
    await mac.click();
    expect(await mac.getAttribute("aria-pressed")).toBe("false");
  });
});

describe("the whole", () => {
  it("is enlarged, moved and fitted", async () => {
    await show(page, "shape=ring&n=4");
    const scale = async () => Number(await page.locator("svg[data-scale]").getAttribute("data-scale"));
    const fit = await scale();
    await page.locator("button[aria-label=Enlarge]").click();
    expect(await scale()).toBeGreaterThan(fit * 1.2);
    await page.mouse.move(600, 300);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.waitForFunction((s) => Number(document.querySelector("svg[data-scale]")!.getAttribute("data-scale")) > s, fit * 1.5, { polling: 20 });
    await page.keyboard.up("Control");
    await page.locator("button >> text=Fit").click();
    expect(await scale()).toBe(fit);
  });

  it("is there as tables too", async () => {
    await show(page, "shape=ring&n=4&bad=1");
    await page.waitForSelector('[data-twin="links"]', { state: "attached" });
    expect(await page.locator('[data-twin="nodes"] tbody tr').count()).toBe(4);
    expect(await page.locator('[data-twin="links"] tbody tr').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringMatching(/Slow cable: 40\.0 Gb\/s, its ports can do more/)]),
    );
    await page.locator("button >> text=Show as table").click();
    await page.locator('[data-twin="nodes"]').waitFor({ state: "visible" });
    expect(await page.locator("[data-node]:visible").count()).toBe(0);
    expect(await inaccessible(page)).toEqual([]);
    await page.locator("button >> text=Show as picture").click();
    await page.locator("[data-node]").first().waitFor();
  });

  it("is accessible, whatever it shows", async () => {
    for (const words of ["shape=mesh&n=4&bad=2&guest=1&away=1&warn=1&jobs=1", "shape=mesh&n=16&bad=1", "shape=ring&n=5&mixed=1&picking=1"]) {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await show(page, words);
        expect(await inaccessible(page, colorScheme === "dark"), `${words} ${colorScheme}`).toEqual([]);
      }
    }
    await page.emulateMedia({ colorScheme: "light" });
  });

  it("looks as it did", async () => {
    await show(page, "shape=ring&n=5&mixed=1&hub=2&jobs=1&away=3&warn=1&guest=1&double=1");
    await picture(page, "drawing-kinds");
    expect(await difference(page, "kinds")).toBeLessThan(tolerance);
    // One cable more or less is a difference.
    const last = await page.locator("[data-link]").last().getAttribute("data-link");
    await page.evaluate((id) => document.querySelectorAll(`[data-link="${id}"], [data-of="${id}"]`).forEach((e) => e.remove()), last);
    expect(await difference(page, "kinds", "")).toBeGreaterThan(tolerance);
    await show(page, "shape=mesh&n=16&bad=30");
    expect(await page.locator('[data-box="callout"]').allTextContents()).toEqual(["Slow cable40.0 Gb/s, its ports can do more"]);
    await picture(page, "drawing-sixteen");
  });
});

import type { Browser, BrowserContext, WebSocketRoute } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { cluster, launch, patience, see } from "./harness";

let browser: Browser;
let context: BrowserContext;
/** The page's connections, and what it said over them. */
const connections: WebSocketRoute[] = [];
let said: { method: string; params: { kinds?: string[] } }[] = [];
/** Nobody is let in at the moment. */
let refusing = false;

beforeAll(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  await context.routeWebSocket(/\/v1$/, (socket) => {
    if (refusing) {
      void socket.close({ code: 1001 });
      return;
    }
    const daemon = socket.connectToServer();
    connections.push(socket);
    socket.onMessage((message) => {
      said.push(JSON.parse(String(message)));
      daemon.send(message);
    });
  });
});

afterAll(async () => {
  await browser?.close();
});

describe("the connection", () => {
  it("is there again after it was lost, with everything anew, and watches no load for nobody", async () => {
    const page = await context.newPage();
    await page.goto((await cluster.fulmen("studio-1", ["dashboard", "--print"])).out.trim());
    await see(page, "[data-node] >> nth=3");

    refusing = true;
    await connections.at(-1)!.close({ code: 1001 });
    await see(page, '[data-connection="lost"]');
    expect(await page.locator(".banner").innerText()).toContain("connects again by itself");
    expect(await page.locator("[data-node]").count()).toBeGreaterThanOrEqual(4); // what was known stays
    said = [];
    refusing = false;
    await see(page, '[data-connection="open"]');
    await see(page, '[data-tile="memory"] >> text=/of \\d+ GB/');
    expect(said[0]).toMatchObject({ method: "daemon.authenticate" });
    expect(said.filter((call) => call.method === "node.watch").length).toBe(1);

    const look = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    said = [];
    await look(true);
    await expect.poll(() => said.map((call) => call.method), { timeout: patience }).toContain("state.unwatch");
    await look(false);
    await expect.poll(() => said.find((call) => call.method === "state.watch")?.params.kinds, { timeout: patience }).toEqual(["memory", "system"]);
    await page.close();
  });
});

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { cluster, complaintsOf, inaccessible, launch, open, patience, picture, see, work } from "./harness";

let browser: Browser;
let page: Page;

beforeAll(async () => {
  browser = await launch();
  page = await open(await browser.newContext({ viewport: { width: 1320, height: 860 } }), "studio-1", "/run");
});

afterAll(async () => {
  await browser?.close();
});

afterEach(() => {
  expect(complaintsOf(page)).toEqual([]);
});

describe("a job", () => {
  it("is previewed with what stops it where it cannot run", async () => {
    await page.fill("[name=ranks]", "9");
    await see(page, '[data-plan="none"]');
    await picture(page, "job-refused");
    await page.fill("[name=ranks]", "2");
    await page.selectOption("[name=backend]", "ring");
    await see(page, '[data-plan="ring"]');
    await page.locator("summary >> text=More").click();
    await page.check("[name=shares]");
    await see(page, "[data-plan] >> text=% of the whole");
    await page.uncheck("[name=shares]");
    await page.check("[name=kept]");
    await page.selectOption("[name=keepawake]", "always");
    await see(page, '[data-plan="ring"]');
    await page.uncheck("[name=kept]");
    await page.locator("summary >> text=More").click();
  });

  it("runs where Macs are picked in the picture, and not where they are excluded", async () => {
    const [studio, book] = [await cluster.id("studio-1"), await cluster.id("book")];
    const plan = page.locator("[data-plan] ol");
    await page.locator(`[data-node="${studio}"]`).first().click();
    await see(page, `[data-pick="${studio}"] >> text=Required`);
    await page.locator(`[data-pick="${book}"]`).click();
    await page.locator(`[data-pick="${book}"]`).click();
    await see(page, `[data-pick="${book}"] >> text=Excluded`);
    await page.waitForFunction(() => {
      const names = document.querySelector("[data-plan] ol")?.textContent ?? "";
      return names.includes("studio-1") && !names.includes("macbook-pro");
    }, undefined, { timeout: patience });
    expect(await plan.innerText()).toContain("studio-2");
    await picture(page, "job-form");
    expect(await inaccessible(page)).toEqual([]);
  });

  it("goes from the form to its result, with its output as it comes", async () => {
    await page.fill("[name=command]", `/bin/sh -c 'for i in 1 2 3; do echo "step $i"; sleep 0.4; done; echo "$WORD" >&2'`);
    await inFolder();
    await page.fill("[name=name]", "three steps");
    await page.fill("[name=variables]", "WORD=done");
    await page.fill("[name=ports]", "lan");
    await see(page, "form [role=status] >> text=Write ports as 8080");
    expect(await page.locator("button >> text=Run").isDisabled()).toBe(true);
    await page.fill("[name=ports]", "");
    await page.fill("[name=run_s]", "10m");
    await page.fill("[name=priority]", "7");
    await page.check("[name=preemptible]");
    await page.locator("button >> text=Run").click();
    await page.waitForURL("**/#/job/j*");
    const job = page.url().split("/").at(-1)!;
    const { job: doc } = await cluster.call<{ job: { value: { spec: { deadlines: object; program: { variables: string[] }; priority: number; preemptible: boolean } } } }>("studio-1", "job.get", { job });
    const { spec } = doc.value;
    expect([spec.deadlines, spec.program.variables]).toEqual([expect.objectContaining({ run_s: 600 }), ["WORD"]]);
    expect([spec.priority, spec.preemptible]).toEqual([7, true]);
    await see(page, "[data-logs] >> text=step 1");
    await see(page, '[data-phase="succeeded"][data-over="true"]');
    await see(page, '[data-logs="whole"]');
    const lines = (await page.locator("[data-logs]").innerText()).split("\n").map((line) => line.trim());
    expect(lines.filter((line) => line.endsWith("step 3")).length).toBe(2);
    expect(lines.filter((line) => line.endsWith("done")).length).toBe(2);
    expect(await inaccessible(page)).toEqual([]);
    await picture(page, "job");
  });

  it("that fails says which rank failed and how", async () => {
    const id = await submit(`if [ "$MLX_RANK" = 1 ]; then echo "no such model" >&2; exit 42; fi; sleep 60`, () => page.fill("[name=after]", " three steps, "));
    const { job: doc } = await cluster.call<{ job: { value: { spec: { after: string[] } } } }>("studio-1", "job.get", { job: id });
    expect(doc.value.spec.after).toEqual([expect.stringMatching(/^j/)]);
    await see(page, '[data-phase="failed"]');
    expect(await page.locator(".message").innerText()).toMatch(/42/);
    await see(page, "[data-logs] >> text=no such model");
    await picture(page, "job-failed");
    await page.locator("button >> text=Delete…").click();
    await page.locator("button >> text=Delete it and its output").click();
    await page.waitForURL("**/#/jobs");
    await page.waitForSelector(`[data-job="${id}"]`, { state: "detached" });
  });

  it("whose ranks do not join over RDMA says for whom it waits", async () => {
    await goTo("/run");
    await page.fill("[name=command]", "/bin/sleep 300");
    await page.selectOption("[name=backend]", "jaccl");
    await page.fill("[name=ranks]", "2");
    await inFolder();
    await see(page, '[data-plan="jaccl"]');
    await page.locator("button >> text=Run").click();
    await see(page, "[data-handshake] >> text=Handshake 0 of 2");
    await picture(page, "job-handshake");
    await page.locator("button >> text=Stop").click();
    await see(page, '[data-phase="stopped"]');
  });

  it("is in the cluster's picture with what it printed last and its links lit, and is stopped there", async () => {
    const row = `[data-running="${await submit("echo sleeping; sleep 300")}"]`;
    // The address may be told anew at any moment.
    await page.evaluate(async () => {
      for (let n = 0; n < 10; n++) {
        window.dispatchEvent(new HashChangeEvent("hashchange"));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    await see(page, "[data-logs] >> text=sleeping");
    await goTo("/");
    await see(page, `${row} code >> text=sleeping`);
    await see(page, `${row} >> text=Running`);
    await page.waitForSelector(".edge.lit[aria-label*='A job uses it']", { state: "attached", timeout: patience });
    expect(await inaccessible(page)).toEqual([]);
    await picture(page, "running");
    await page.locator(`${row} button`).click();
    await page.waitForSelector(row, { state: "detached", timeout: patience });
    await page.waitForSelector(".edge.lit", { state: "detached", timeout: patience });
    await goTo("/jobs");
    await see(page, "tr >> text=Stopped");
    await picture(page, "jobs");
  });
});

/** Submits a job of two ranks by the form and gives its id. */
async function submit(script: string, fillMore?: () => Promise<void>): Promise<string> {
  await goTo("/run");
  await see(page, "[name=command]");
  await page.fill("[name=command]", `/bin/sh -c '${script}'`);
  await page.selectOption("[name=backend]", "ring");
  await page.fill("[name=ranks]", "2");
  await inFolder();
  await fillMore?.();
  await page.locator("button >> text=Run").click();
  await page.waitForURL("**/#/job/j*");
  await see(page, `h1`);
  return page.url().split("/").at(-1)!;
}

/** Says in the form where the job runs, whether or not its rarer fields are shown already. */
async function inFolder(): Promise<void> {
  await page.locator("details:has([name=directory])").evaluate((more) => more.setAttribute("open", ""));
  await page.fill("[name=directory]", work);
}

async function goTo(path: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, path);
}

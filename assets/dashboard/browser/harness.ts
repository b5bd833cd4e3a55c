/**
 * What every test in the browser uses: Chromium, a page of the dashboard of one of
 * the Macs, and the cluster behind it.
 *
 * @module
 */

import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

/** What came of a command. */
export interface Ran {
  status: number;
  out: string;
  err: string;
}

/** A Mac of the cluster. */
export interface Seat {
  mac: string;
  id: string;
}

/** A folder for jobs: the account that they run as may have no home. */
export const work = process.env["FULMEN_WORK"] ?? "";

/** The account as which jobs of others run. */
export const account = process.env["FULMEN_ACCOUNT"] ?? "";

/** How long whatever is waited for may take on a machine that is busy with other tests, ms. */
export const patience = 45_000;

async function ask<T>(path: string, wish: object = {}): Promise<T> {
  const response = await fetch(process.env["FULMEN_CONTROL"] + path, { method: "POST", body: JSON.stringify(wish) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** The cluster. */
export const cluster = {
  seats: () => ask<Seat[]>("/seats"),
  /** The id of a Mac. */
  id: async (mac: string) => (await ask<Seat[]>("/seats")).find((seat) => seat.mac === mac)!.id,
  /** Runs the command line at a Mac. */
  fulmen: (at: string, args: string[], input = "") => ask<Ran>("/fulmen", { at, args, input }),
  /** Calls a method at a Mac, as an administrator. */
  call: <T>(at: string, method: string, params: object = {}) => ask<T>("/call", { at, method, params }),
  /** Ends a daemon at once. */
  end: (at: string) => ask<string>("/end", { at }),
  boot: (at: string) => ask<Seat>("/boot", { at }),
  /** Starts a Mac that is no member. */
  guest: (mac: string) => ask<Seat>("/guest", { at: mac }),
  /** Changes the simulated desk, in the words of a scenario. */
  simulate: (line: string) => ask("/call", { at: "studio-1", method: "daemon.simulate", params: { line } }),
};

/** Wants a command to succeed; what it complained of is the failure otherwise. */
export async function done(command: Promise<Ran>): Promise<void> {
  const { status, err } = await command;
  if (status !== 0) throw new Error(`it ended with ${status}: ${err}`);
}

/** Starts the browser; to be closed at the end. */
export function launch(): Promise<Browser> {
  // Root has no sandbox of its own; the page comes from the daemon beside it.
  return chromium.launch({ executablePath: process.env["FULMEN_CHROMIUM"]!, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] });
}

/** What went wrong in a page, beside what is asserted: errors, refusals by the policy, requests to elsewhere. */
const complaints = new WeakMap<Page, string[]>();

/** Opens the dashboard of a Mac as `fulmen dashboard` does. */
export async function open(context: BrowserContext, at: string, path = "/"): Promise<Page> {
  const { out, err, status } = await cluster.fulmen(at, ["dashboard", "--print", "--page", path]);
  if (status !== 0) throw new Error(err);
  const page = await context.newPage();
  const said: string[] = [];
  complaints.set(page, said);
  const address = new URL(out.trim());
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") said.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).host !== address.host) said.push(`asked ${request.url()}`);
  });
  await page.goto(out.trim());
  await page.waitForSelector('[data-connection="open"]', { timeout: patience });
  return page;
}

/** What a page complained of so far. */
export function complaintsOf(page: Page): string[] {
  return complaints.get(page) ?? [];
}

/** Waits until something is on the page. */
export function see(page: Page, selector: string): Promise<unknown> {
  return page.waitForSelector(selector, { timeout: patience });
}

/** Leaves a picture where FULMEN_PICTURES says. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["FULMEN_PICTURES"];
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What is not accessible on a page, as `rule: where`; empty where all is well. Of a page that was looked at in other colours, these alone are left. */
export async function inaccessible(page: Page, coloursAlone = false): Promise<string[]> {
  // The page's own policy allows no script but the daemon's; the browser's debugger is outside of it.
  await page.evaluate(axe);
  return await page.evaluate(async (rules) => {
    const run = (globalThis as unknown as { axe: { run(context: Document, options: object): Promise<{ violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] }> } }).axe;
    const { violations } = await run.run(document, { resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
    return violations.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.target.join(" ")} ${node.failureSummary}`));
  }, coloursAlone ? ["color-contrast"] : null);
}

import { createHash } from "node:crypto";
import { chownSync, existsSync, lchownSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { cluster, complaintsOf, done, inaccessible, launch, open, picture, see, work } from "./harness";

const revision = "08231374eeacb049a0eade7922910865b8fce912";
let browser: Browser;
let page: Page;

/** Gives a Mac a Hugging Face cache of its own, though all Macs are one machine. */
async function hub(mac: string): Promise<string> {
  const { uid, gid } = statSync(work);
  const at = join(work, `hub-${mac}`);
  mkdirSync(at);
  chownSync(at, uid, gid);
  await cluster.call(mac, "daemon.set_config", { set: { "models.hub_cache": at } });
  return at;
}

/** Writes a model of so many bytes into a cache, in the cache's own form. */
function model(cache: string, name: string, bytes: number) {
  const { uid, gid } = statSync(work);
  const repository = join(cache, `models--${name.replace("/", "--")}`);
  const snapshot = join(repository, "snapshots", revision);
  for (const folder of [repository, join(repository, "blobs"), join(repository, "refs"), join(repository, "snapshots"), snapshot]) {
    mkdirSync(folder);
    chownSync(folder, uid, gid);
  }
  const weights = Buffer.alloc(bytes, "0123456789abcdef");
  const blob = createHash("sha256").update(weights).digest("hex");
  for (const [at, text] of [[join("blobs", blob), weights], ["refs/main", revision], [join("snapshots", revision, "config.json"), '{"model_type":"llama"}']] as const) {
    writeFileSync(join(repository, at), text);
    chownSync(join(repository, at), uid, gid);
  }
  symlinkSync(`../../blobs/${blob}`, join(snapshot, "model.gguf"));
  lchownSync(join(snapshot, "model.gguf"), uid, gid);
}

beforeAll(async () => {
  browser = await launch();
  page = await open(await browser.newContext({ viewport: { width: 1320, height: 460 } }), "studio-1", "/");
});

afterAll(async () => {
  await browser?.close();
});

afterEach(() => {
  expect(complaintsOf(page)).toEqual([]);
});

describe("models", () => {
  it("are listed with the Macs that have them, and those that share none say so", async () => {
    await hub("studio-1");
    model(await hub("studio-2"), "mlx-community/Llama-3.2-1B-Instruct-4bit", 24 << 20);
    model(join(work, "hub-studio-1"), "mlx-community/Qwen3-0.6B-8bit", 8 << 20);
    await page.locator("nav >> text=Models").click();
    await see(page, "text=The Mac does not let people of other Macs read its models");
    await cluster.call("studio-2", "cluster.set_sharing", { models: "mapped" });
    await page.locator("button >> text=Look again").click();
    await see(page, '[data-model^="mlx-community/Llama"] >> text=complete');
    expect(await inaccessible(page)).toEqual([]);
    await picture(page, "models");
  });

  it("are copied to this Mac, whichever page is looked at meanwhile", async () => {
    await page.locator('[data-model^="mlx-community/Llama"] [data-copy]').click();
    await page.locator("nav >> text=Jobs").click();
    await page.locator("nav >> text=Models").click();
    await page.waitForSelector('[data-model^="mlx-community/Llama"] [data-copy]', { state: "detached" });
    await page.waitForFunction(() => [...document.querySelectorAll('[data-model^="mlx-community/Llama"] td')].filter((cell) => cell.textContent === "complete").length === 2);
    const copied = join(work, "hub-studio-1", "models--mlx-community--Llama-3.2-1B-Instruct-4bit");
    expect(readFileSync(join(copied, "refs/main"), "utf8")).toBe(revision);
    expect(existsSync(join(copied, "snapshots", revision, "model.gguf"))).toBe(true);
    expect(await inaccessible(page)).toEqual([]);
  });

  it("are got from Hugging Face, and what keeps them from it is said", async () => {
    const python = join(work, "python-of-the-hub");
    const answer = (lines: string) => writeFileSync(python, `#!/bin/sh\nread task\n${lines}\n`, { mode: 0o755 });
    await cluster.call("studio-1", "daemon.set_config", { set: { "models.python": python } });
    answer(`echo '{"problem":"repository","text":"org/name"}'`);
    const get = async () => {
      await page.fill('input[name="model"]', "org/nam");
      await page.locator("button >> text=/^Get$/").click();
    };
    await get();
    await see(page, '[data-get="org/nam"] [role="alert"] >> text=Did you mean org/name?');
    answer(`echo '{"done":3,"total":12}'; cat`);
    await get();
    await see(page, '[data-get="org/nam"] >> text=Copying from Hugging Face');
    expect(await inaccessible(page)).toEqual([]);
    await page.locator('[data-get="org/nam"] >> text=Cancel').click();
    await page.waitForSelector('[data-get="org/nam"]', { state: "detached" });
    expect(await inaccessible(page)).toEqual([]);
  });

  it("that cannot be copied say why", async () => {
    model(join(work, "hub-studio-2"), "org/other", 1 << 20);
    await page.locator("button >> text=Look again").click();
    await see(page, '[data-model="org/other"] [data-copy]');
    await cluster.call("studio-2", "cluster.set_sharing", { models: "nobody" });
    await page.locator('[data-model="org/other"] [data-copy]').click();
    await see(page, '[data-model="org/other"] [role="alert"] >> text=fulmen sharing set models=mapped');
  });
});

describe("instances", () => {
  const engine = '[program]\ncommand = ["python3", "-m", "http.server", "--bind", "127.0.0.1", "{port}"]\n[probes.readiness]\npath = "/"\nperiod_s = 1\n';
  const name = "mlx-community/Qwen3-0.6B-8bit"; // which studio-1 has

  it("are listed with where they answer, and say when they are ready", async () => {
    const file = join(work, "python.toml");
    writeFileSync(file, engine);
    await done(cluster.fulmen("studio-1", ["serve", name, "--engine", file, "--ranks", "1", "--detach"]));
    await page.locator("nav >> text=Instances").click();
    await see(page, '[data-instance="Qwen3-0.6B-8bit"] >> text="Ready"');
    await see(page, '[data-instance="Qwen3-0.6B-8bit"] >> text=http://127.0.0.1:');
    expect(await inaccessible(page)).toEqual([]);
    await picture(page, "instances");
  });

  it("that cannot start say why, and are deleted by a button", async () => {
    await page.locator('input[name="model"]').fill("org/nowhere");
    await see(page, '[data-plan="none"]');
    await page.locator("button >> text=Serve").click();
    await see(page, '[data-instance="nowhere"] >> text=gets org/nowhere from Hugging Face');
    for (const one of ["nowhere", "Qwen3-0.6B-8bit"]) {
      await page.locator(`[data-instance="${one}"] button >> text=Delete`).click();
      await page.waitForSelector(`[data-instance="${one}"]`, { state: "detached" });
    }
    await see(page, "text=You serve no model on this Mac.");
  });

  it("are planned as the form changes", async () => {
    await page.locator('input[name="model"]').fill(name);
    await see(page, "[data-plan] ol li");
    await page.locator('input[name="macs"]').fill("64");
    await see(page, '[data-plan="none"] >> text=Nowhere at the moment.');
    await page.locator('input[name="macs"]').fill("1");
    await see(page, "[data-plan] ol li");
    expect(await inaccessible(page)).toEqual([]);
  });
});

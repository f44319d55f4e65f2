// Opens the report, tries what a reader does, and takes screenshots: desktop, phone, dark.
//
//   node look.mjs CHROMIUM REPORT OUT
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, report, out] = process.argv.slice(2);
assert.ok(out, "usage: node look.mjs CHROMIUM REPORT OUT");
const LARGEST = 5_000_000;
const views = [
  { name: "desktop", viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  { name: "dark", viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  { name: "phone", viewport: { width: 390, height: 844 }, colorScheme: "light", deviceScaleFactor: 2, isMobile: true },
  { name: "phone-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark", deviceScaleFactor: 2, isMobile: true },
];

const size = statSync(report).size;
assert.ok(size < LARGEST, `the report has ${size} bytes, fewer than ${LARGEST} are allowed`);

const profile = mkdtempSync(join(tmpdir(), "sgmcmc-browser-"));
const args = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

for (const { name, ...settings } of views) {
  const context = await chromium.launchPersistentContext(join(profile, name), { executablePath, args, ...settings });
  try {
    await look(name, await context.newPage());
  } finally {
    await context.close();
  }
}
rmSync(profile, { recursive: true, force: true });
console.log(`report of ${size} bytes: no console errors, search and paging work; screenshots are in ${resolve(out)}`);

async function look(name, page) {
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || errors.push(`loads ${request.url()}`));
  const begun = Date.now();
  await page.goto(pathToFileURL(resolve(report)).href);
  const seconds = (Date.now() - begun) / 1000;
  await page.screenshot({ path: join(out, `${name}-top.png`) });

  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(await overflow(), 0, `${name}: the page is wider than the screen`);

  // Only the plots on view are part of the document.
  const shown = () => page.locator("#shown article h3").allTextContents();
  const pager = page.locator("#parameters .pager").first();
  assert.equal(await page.locator("#order").inputValue(), "worst", "something is wrong with this fit");
  await page.selectOption("#order", "");
  const first = await shown();
  assert.equal(first.length, 4);
  assert.equal(await page.locator("#shown svg").count(), 4 * 5 + 2, "five plots each, and two with a prior");
  assert.ok(await pager.locator("button").first().isDisabled());
  await pager.locator("button").last().click();
  const second = await shown();
  assert.equal(second.length, 4);
  assert.ok(!second.some((parameter) => first.includes(parameter)), "the next page shows the same parameters");

  await page.selectOption("#order", "rhat");
  assert.equal((await shown())[0], "beta[0]", "the chains of beta[0] disagree most");
  await page.selectOption("#order", "");
  await page.fill("#search", "beta[1]");
  assert.deepEqual(await shown(), ["beta[1]"]);
  await page.fill("#search", "no such parameter");
  assert.deepEqual(await shown(), []);
  await page.fill("#search", "");
  assert.deepEqual(await shown(), first);

  // The table: search, sorting by key, and the way from a name to its plots.
  const rows = page.locator("tbody tr:visible th");
  await page.fill("#row-search", "W[1,");
  assert.equal(await rows.count(), 5);
  await page.fill("#row-search", "");
  const sort = page.locator("thead button", { hasText: "r_hat" });
  await sort.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  assert.equal(await rows.first().textContent(), "beta[0]");
  await rows.first().locator("a").click();
  assert.deepEqual(await shown(), ["beta[0]"]);
  await page.fill("#search", "");

  for (const part of ["verdict", "summary", "overview", "parameters", "statistics", "predictive"]) {
    await page.locator(`#${part}`).screenshot({ path: join(out, `${name}-${part}.png`) });
  }
  assert.equal(await overflow(), 0, `${name}: the page has become wider than the screen`);
  assert.deepEqual(errors, [], `${name}: console errors`);
  console.log(`${name}: opened in ${seconds.toFixed(2)} s`);
}

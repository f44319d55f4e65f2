// Opens the page that compares fits and the page of a run under way, and takes screenshots: desktop, phone, dark.
//
//   node pages.mjs CHROMIUM COMPARISON WATCHED OUT
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, comparison, watched, out] = process.argv.slice(2);
assert.ok(out, "usage: node pages.mjs CHROMIUM COMPARISON WATCHED OUT");
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true };
const desktop = { viewport: { width: 1280, height: 900 } };
const views = {
  light: { ...desktop, colorScheme: "light" },
  dark: { ...desktop, colorScheme: "dark" },
  phone: { ...phone, colorScheme: "light" },
  "phone-dark": { ...phone, colorScheme: "dark" },
};

const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
for (const [view, settings] of Object.entries(views)) {
  await look(`comparison-${view}`, comparison, settings, async (page) => {
    const tables = page.locator("table");
    assert.equal(await tables.count(), 2, "verdicts and predictive accuracy");
    assert.equal(await tables.first().locator("tbody tr").count(), 2, "one row for each fit");
    assert.ok((await page.locator("svg").count()) > 2, "a forest plot and densities");
  });
  await look(`watch-${view}`, watched, settings, async (page) => {
    const refresh = page.locator("meta[http-equiv=refresh]");
    assert.equal(await refresh.count(), 1, "the page of a run under way reloads itself");
    assert.ok(Number(await refresh.getAttribute("content")) >= 1);
    assert.ok((await page.locator("#shown svg").count()) > 0, "plots of parameters");
  });
}
await browser.close();
console.log(`comparison and watch page: no console errors; screenshots are in ${resolve(out)}`);

// Opens a page, checks it, and takes a screenshot of all of it.
async function look(name, file, settings, check) {
  const context = await browser.newContext(settings);
  const page = await context.newPage();
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || errors.push(`loads ${request.url()}`));
  await page.goto(pathToFileURL(resolve(file)).href);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(overflow, 0, `${name}: the page is wider than the screen`);
  await check(page);
  await page.screenshot({ path: join(out, `${name}.png`), fullPage: true });
  assert.deepEqual(errors, [], `${name}: console errors`);
  await context.close();
}

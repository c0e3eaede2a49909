/** The pages for operators in a real browser, in front of a real gateway. */

import type { Page } from "playwright-core";
import { violationsInThemes } from "../../../../test/support/accessibility.ts";
import { type Browser, findChromium, startChromium } from "../../../../test/support/chromium.ts";
import { type GatewayOptions, type Harness, startGateway } from "../../../gateway-auth-quota/test/support/gateway.ts";
import { watchedPage } from "./console-browser.ts";

export interface OperatorInBrowser {
  readonly harness: Harness;
  /** Null if there is none. */
  readonly browser: Browser | null;
  /** Of the operator listener. */
  readonly url: string;
  readonly publicUrl: string;
  readonly adminKey: string;
  /** Opens a page and gives it the admin key, or another one; null: none. @param at  another way to the listener. */
  open(path: string, key?: string | null, at?: string): ReturnType<typeof watchedPage>;
  stop(): Promise<void>;
}

/**
 * Without a browser, there is a gateway only.
 *
 * @param shared  browser that runs already, and is not stopped with the gateway.
 */
export async function startOperator(config: GatewayOptions["config"] = {}, shared: Browser | null = null): Promise<OperatorInBrowser> {
  const found = await findChromium();
  const harness = await startGateway({ config: { OPERATOR_PORT: 0, ...config } });
  const publicUrl = await harness.gateway.listen();
  const url = harness.gateway.operator?.listeningOrigin ?? "";
  const adminKey = await harness.key({ label: "admin", scopes: ["admin"], rate: { limit: 10_000, windowSeconds: 1 } });
  const own = found.found && shared === null ? await startChromium(found) : null;
  const browser = shared ?? own;
  return {
    harness,
    browser,
    url,
    publicUrl,
    adminKey,
    async open(path, key = adminKey, at = url) {
      if (browser === null) throw new Error("no browser");
      const opened = await watchedPage(browser);
      const { page } = opened;
      await page.goto(at + path);
      if (key !== null) {
        await page.fill("#key", key);
        await page.press("#key", "Enter");
      }
      return opened;
    },
    async stop() {
      await own?.stop();
      await harness.stop();
    },
  };
}

/** What axe finds wrong with a page, in both themes. It may show a dialog, behind which the choice of the theme cannot be used. */
export async function faultsInBothThemes(page: Page): Promise<string[]> {
  return await violationsInThemes(page, (theme) => page.evaluate(`document.documentElement.dataset.theme = "${theme}"`));
}

/** Widths of screens, from 320 px on, that the page does not fit. With `SCREENSHOTS` set, it is pictured in each. */
export async function tooNarrow(page: Page): Promise<number[]> {
  const narrow: number[] = [];
  for (const width of [320, 360, 1_024, 1_920]) {
    await page.setViewportSize({ width, height: 900 });
    if (!(await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))) narrow.push(width);
    if (process.env.SCREENSHOTS) {
      const name = new URL(page.url()).pathname.replaceAll("/", "_");
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/operator${name}.${width}.png`, fullPage: true });
    }
  }
  return narrow;
}

import { test } from "@jest/globals";
import { examples, type OperationName, type RecordOf } from "@netfacts/contracts";
import type { Page } from "playwright-core";
import { violationsInThemes } from "../../../../test/support/accessibility.ts";
import { type Browser, findChromium, startChromium } from "../../../../test/support/chromium.ts";
import { toolOrNotRun } from "../../../../test/support/debian.ts";
import { exampleReply, type Harness, startGateway } from "../../../gateway-auth-quota/test/support/gateway.ts";

const found = await findChromium();

export { violations } from "../../../../test/support/accessibility.ts";

/** What axe finds wrong with a page, in both themes. It is in the dark one then. */
export async function faultsInBothThemes(page: Page): Promise<string[]> {
  return await violationsInThemes(page, (theme) => page.selectOption("nav select", theme));
}

export interface OpenedPage {
  readonly page: Page;
  /** What the browser complained about: errors of scripts, and what the policy forbids. */
  readonly complaints: string[];
  readonly requests: string[];
  /** Follows a link to another page of the console, which keeps the document and the key. The page is drawn then, and may wait for its answer. */
  goTo(path: string): Promise<void>;
  readonly key: string | null;
  /** The text of the first heading, once it is there. */
  heading(): Promise<string | null>;
}

export interface ConsoleInBrowser {
  readonly harness: Harness;
  /** Null if there is none. */
  readonly browser: Browser | null;
  readonly url: string;
  /** Answers an operation with its example, changed. */
  answer<O extends OperationName>(op: O, members: Partial<RecordOf<O>>): void;
  /**
   * Opens a page and gives it a key. The default is a key of every scope; null: none.
   *
   * @param at  URL of another gateway, whose key this is.
   */
  open(path: string, key?: string | null, at?: string): Promise<OpenedPage>;
  stop(): Promise<void>;
}

/** A new page, with what the browser complains about and what it asks for. */
export async function watchedPage({ context }: Browser): Promise<Pick<OpenedPage, "page" | "complaints" | "requests" | "goTo">> {
  const page = await context.newPage();
  // As the time-outs of Jest, these only end what hangs.
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    // An answer of 4xx or 5xx is one of these, too; the page shows it.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  const goTo = async (path: string) => {
    await page.evaluate(`(() => {
      const link = Object.assign(document.createElement("a"), { href: ${JSON.stringify(path)} });
      document.body.append(link);
      link.click();
      link.remove();
      return new Promise((done) => setTimeout(done));
    })()`);
  };
  return { page, complaints, requests, goTo };
}

/** @param tests  in the file; they are reported as not run where there is no browser. */
export function browserTest(tests: number): typeof test | typeof test.skip {
  return toolOrNotRun(found, "Chromium", tests) === null ? test.skip : test;
}

/** Without a browser, there is a gateway only. */
export async function startConsole(): Promise<ConsoleInBrowser> {
  const harness = await startGateway();
  const url = await harness.gateway.listen();
  const browser = found.found ? await startChromium(found) : null;
  return {
    harness,
    browser,
    url,
    answer(op, members) {
      const record = { ...(examples as unknown as Record<typeof op, RecordOf<typeof op>>)[op], ...members };
      harness.answers.set(op, () => ({ ...exampleReply(op), cacheable: false, etag: "", body: Buffer.from(JSON.stringify(record)) }));
    },
    async open(path, key, at = url) {
      if (browser === null) throw new Error("no browser");
      const opened = await watchedPage(browser);
      const { page } = opened;
      await page.goto(at + path);
      const secret = key === undefined ? await harness.key() : key;
      if (secret !== null) {
        await page.fill("#key", secret);
        await page.press("#key", "Enter");
      }
      const heading = async () => {
        await page.locator("main h1:not(.loading)").waitFor();
        return await page.locator("main h1:not(.loading)").textContent();
      };
      return { ...opened, heading, key: secret };
    },
    async stop() {
      await browser?.stop();
      await harness.stop();
    },
  };
}

/** Takes pictures of pages. */

import type { Page } from "playwright-core";

export interface PictureOptions {
  /** 0 to 100. Default: 75. */
  readonly quality?: number;
  /** Longest picture in px; the rest of a longer page is cut off. Default: no limit. */
  readonly heightMax?: number;
}

/** Takes a picture as WebP. Playwright itself writes only PNG and JPEG, which are several times larger. */
export async function webpOf(page: Page, { quality = 75, heightMax = Number.POSITIVE_INFINITY }: PictureOptions = {}): Promise<Buffer> {
  const session = await page.context().newCDPSession(page);
  const { cssContentSize } = await session.send("Page.getLayoutMetrics");
  const clip = { ...cssContentSize, height: Math.min(cssContentSize.height, heightMax), scale: 1 };
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality, clip, captureBeyondViewport: true });
  return Buffer.from(data, "base64");
}

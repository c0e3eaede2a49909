/** What the start tells the person in front of it: commands that a shell reads as they are meant. */

import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { type WelcomeOptions, welcomeText } from "../src/welcome.ts";

function welcome(folder: string, url = "http://127.0.0.1:8080"): string {
  return welcomeText({
    url,
    operationsUrl: "http://127.0.0.1:9090",
    operatorUrl: "http://127.0.0.1:8081",
    folder,
    // The text needs no more of a generation.
    generation: { manifest: { sample_data: true, sections: {} } } as unknown as WelcomeOptions["generation"],
    firstKey: null,
    hasConsole: false,
  });
}

test.each(["../x/my data/home", "it's $HOME", "a;b", "plain/home"])("the printed commands name the data folder %j", (folder) => {
  const words = [...welcome(folder).matchAll(/--data-dir (.+)$/gm)].map(([, word]) => word);
  expect(words).toHaveLength(2);
  for (const word of words) expect(execFileSync("sh", ["-c", `printf '%s\\n' ${word}`], { encoding: "utf8" })).toBe(`${folder}\n`);
});

test("a data folder that needs no quotes has none", () => {
  expect(welcome("../.netfacts-1/home")).toContain("--data-dir ../.netfacts-1/home\n");
});

test("does not say that a key was shown when there may have been none to show", () => {
  expect(welcome("home")).toContain("A key is shown only when it is created. To create one:\n  bin/netfacts keys create");
});

test("quotes the URL of an IPv6 address, whose brackets are a pattern for shells, and no other", () => {
  expect(welcome("home", "http://[::1]:8080")).toContain(" 'http://[::1]:8080/api/v1/ip/193.0.6.139'\n");
  expect(welcome("home")).toContain(" http://127.0.0.1:8080/api/v1/ip/193.0.6.139\n");
});

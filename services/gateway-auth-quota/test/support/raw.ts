/** HTTP by hand over a socket, for what no client library would send. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { HttpAnswer } from "./gateway.ts";

export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

/** Sends the text and reads until the other end closes. */
export async function exchange(url: string, text: string): Promise<HttpAnswer[]> {
  const socket = await openSocket(url);
  socket.write(text, "latin1");
  return readAnswers(socket);
}

/** Every answer that arrives until the other end closes. */
export async function readAnswers(socket: Socket): Promise<HttpAnswer[]> {
  let bytes = "";
  socket.setEncoding("latin1");
  for await (const chunk of socket) bytes += chunk;
  return parseAnswers(bytes);
}

/** As `readAnswers`, of a connection on which we go on sending: what comes after the answers may reset it. */
export async function readUntilClosed(socket: Socket): Promise<HttpAnswer[]> {
  let bytes = "";
  socket.setEncoding("latin1");
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    bytes += chunk;
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return parseAnswers(bytes);
}

function parseAnswers(text: string): HttpAnswer[] {
  let bytes = text;
  const answers: HttpAnswer[] = [];
  while (bytes !== "") {
    const headEnd = bytes.indexOf("\r\n\r\n");
    const [statusLine = "", ...lines] = bytes.slice(0, headEnd).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const bodyEnd = headEnd + 4 + Number(headers["content-length"] ?? 0);
    answers.push({
      status: Number(statusLine.split(" ")[1]),
      headers,
      body: Buffer.from(bytes.slice(headEnd + 4, bodyEnd), "latin1").toString(),
    });
    bytes = bytes.slice(bodyEnd);
  }
  return answers;
}

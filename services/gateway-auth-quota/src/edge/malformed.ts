/** What is wrong with bytes that are not a request, by the error code of Node's parser (RFC 9112). Nothing of what was sent is repeated. */

const lengthFault = "The length of the body is given twice, or it is not valid (Content-Length, Transfer-Encoding).";

const details: Readonly<Record<string, string>> = {
  HPE_INVALID_URL: "The URL has a character that must be percent-encoded: ü is %C3%BC, and a space is %20.",
  HPE_INVALID_CONSTANT: "The first line of the request is not a method, a URL and HTTP/1.1. A space in a URL must be %20.",
  HPE_INVALID_VERSION: "The first line of the request does not end in HTTP/1.1 or HTTP/1.0, and CRLF.",
  HPE_INVALID_METHOD: "The request does not begin with a method in capitals, such as GET or POST.",
  HPE_INVALID_HEADER_TOKEN: "A header has a name or a value that HTTP does not allow.",
  HPE_UNEXPECTED_CONTENT_LENGTH: lengthFault,
  HPE_INVALID_CONTENT_LENGTH: lengthFault,
  HPE_INVALID_TRANSFER_ENCODING: lengthFault,
  HPE_INVALID_CHUNK_SIZE: "A chunk of the body has no valid length.",
  HPE_PAUSED_H2_UPGRADE: "HTTP/2 is not supported. Send HTTP/1.1.",
};

/** Null: the parser says nothing that would help. */
export function malformedDetail(code: string | undefined): string | null {
  return details[code ?? ""] ?? null;
}

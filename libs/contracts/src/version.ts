/** The version of this software, which the OpenAPI documents and the command line show. A test compares it with package.json. */

export const version = "0.1.0";

/** The pages that are loaded when they are first shown: all except the small ones, which are the first page, the key and search results. */

import { lazyPage } from "../parts/lazy-page.tsx";

export const AddressPage = lazyPage(async () => (await import("./address.tsx")).AddressPage);
export const AsPage = lazyPage(async () => (await import("./as.tsx")).AsPage);
export const BulkPage = lazyPage(async () => (await import("./bulk.tsx")).BulkPage);
export const CompareForm = lazyPage(async () => (await import("./compare.tsx")).CompareForm);
export const ComparePage = lazyPage(async () => (await import("./compare.tsx")).ComparePage);
export const DataPage = lazyPage(async () => (await import("./data.tsx")).DataPage);
export const PrefixPage = lazyPage(async () => (await import("./prefix.tsx")).PrefixPage);
export const ReverseDnsPage = lazyPage(async () => (await import("./reverse-dns.tsx")).ReverseDnsPage);
export const SearchPage = lazyPage(async () => (await import("./search.tsx")).SearchPage);
export const ValidityForm = lazyPage(async () => (await import("./validity.tsx")).ValidityForm);
export const ValidityPage = lazyPage(async () => (await import("./validity.tsx")).ValidityPage);

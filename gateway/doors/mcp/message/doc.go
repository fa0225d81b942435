// Package message parses and writes the HTTP messages of MCP: JSON-RPC messages, the headers that repeat them, lists and
// server-sent events. It supports the revisions 2025-03-26, 2025-06-18 and 2025-11-25 (the legacy era) and 2026-07-28
// (the modern era). It depends on no server, policy or store.
//
// The package rejects a message that two servers could read differently: with a duplicate member at any depth, a known
// member in another case, invalid UTF-8, or a batch. It keeps the bytes of a request. It changes only those bytes of a
// response that the door removes or replaces.
//
// The parser of the official SDK does not fit: it returns structs without their bytes, accepts unknown methods and
// batches, and checks headers in the modern era only.
package message

// Package message reads and writes what MCP sends over HTTP: JSON-RPC messages, the headers that repeat them, lists and
// server-sent events. It knows the revisions 2025-03-26, 2025-06-18 and 2025-11-25 (the legacy era) and 2026-07-28 (the
// modern era). It knows no server, no policy and no store: the door asks it what a message says, and judges.
//
// A message is refused if two servers could read it differently: a member that stands twice at any depth, a known member
// in another case, invalid UTF-8, a batch. Nothing is written anew: a request goes on as the bytes that were read, and
// an answer as its own bytes but for what the door leaves out or replaces.
//
// # Rejected
//
// The reader of the official SDK. It reads into structs and can't name the bytes of what it judged. It takes unknown
// methods and batches, and it checks headers in the modern era alone.
package message

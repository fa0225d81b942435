// Package mcp is the door to MCP servers (Model Context Protocol, revisions up to 2025-11-25 and 2026-07-28) at
// `/mcp/[accounts/{a}/][projects/{p}/]{server}`. It parses one message, finds its row in the policy tree, judges the
// caller's use of it, and forwards the judged bytes to the server.
//
// A tool call is E3's question with the row's action and the path `mcp/{server}/tools/{tool}` in the account and project.
// Prompts and resources follow the same rule. Lists contain what the same verdicts allow. The door hides and denies a
// tool with a definition that differs from the reviewed one.
//
// The door turns an allow into a denial for a missing row, a client that may not act, a changed definition, a missing
// approval or a missing scope. It never turns a denial into an allow. Without a verdict it returns an error with
// Retry-After.
//
// A modern client can lead its user to the page about a missing approval. Its retry waits for the user's decision.
//
// The door keeps no table of sessions: it seals a session's id for its caller, and every replica can open it.
package mcp

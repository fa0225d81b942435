// Package mcp is the door for calls of tools of MCP servers (Model Context Protocol, 2025-11-25 and before, and
// 2026-07-28): `/mcp/[accounts/{a}/][projects/{p}/]{server}`. It reads one message, finds its row in the policy tree,
// has the caller's use of it judged, and passes the bytes that were judged to the server.
//
// A call of a tool is the question of E3 with the row's action at the path `mcp/{server}/tools/{tool}` behind account and
// project; resources and prompts likewise. Lists show what the caller may use, by the same verdicts. A tool whose
// definition is not the reviewed one is neither listed nor called.
//
// The door adds denials to a verdict, and no allow: for a missing row, a client without the right to act, a changed
// definition, a needed approval, a missing scope. Without a verdict it answers an error with Retry-After.
//
// Rejected: a table of sessions. The id of a session is sealed for its caller, and every replica opens it.
package mcp

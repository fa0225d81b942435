// Package tickets is a small MCP server with a help desk's tickets, in memory. `serve --demo` starts it behind the
// gateway's MCP door, for the agent of the demo (docs/integrate/agents.md).
//
// It shows what a server behind the door does. It accepts calls with the gateway's assertion only, and takes the user
// and the agent from there. It knows no token and no role.
//
// The folder policy is an overlay with the server's rows. The program's own tree has none: only the demo adds the
// folder to it.
package tickets

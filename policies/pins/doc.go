// Package pins holds the rows of an MCP server in a policy folder to the tools that the server lists: it writes the
// hashes of their definitions and the schemas of their arguments.
//
// It asks no server. A row keeps its action, effect and approval, which an author gave it.
package pins

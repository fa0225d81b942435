// Package definition names the definition of an MCP tool by its hash. The policy tree pins that hash (resources.MCPTool);
// the door to MCP servers and `portcullis mcp pin` compute it.
//
// It hashes the bytes of the server. Rejected: to hash the tool of a client library, which drops unknown members.
package definition

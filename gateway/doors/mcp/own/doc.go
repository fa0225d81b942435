// Package own is Portcullis's own MCP server at the door. Each of its tools asks a question of the API as the caller of the
// door: with the same right to ask, within the same rates, with the same records. The package decides nothing.
package own

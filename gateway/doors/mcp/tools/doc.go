// Package tools adds tools to Portcullis's own MCP servers, on the official SDK: the one at the door
// (gateway/doors/mcp/own) and the one on a desk (`portcullis mcp`). Such a tool only reads. Its arguments and its answer
// have schemas, and the answer is bounded.
package tools

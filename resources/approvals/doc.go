// Package approvals keeps the requests for approvals of single calls of tools, and uses up what users have approved
// (docs/integrate/agents.md). The MCP door asks it, after everything else has allowed the call. Users decide by the API
// (resources/access).
//
// A use is one transaction with its search, so of two calls on any replicas one finds the approval. The transactions move
// no revision of an account: no verdict depends on an approval.
package approvals

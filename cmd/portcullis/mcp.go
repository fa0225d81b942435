package main

import (
	"github.com/spf13/cobra"
)

func newMCP() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "Write what policy says of MCP servers", Args: oneOfItsCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMCPPin())
	return cmd
}

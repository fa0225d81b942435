package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func newMCP() *cobra.Command {
	d := &desk{turns: make(chan struct{}, 1)}
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve tools for policy authors over the Model Context Protocol, or pin the tools of MCP servers",
		Example: "  portcullis mcp --policy-dir own",
		Long: "With --policy-dir it is an MCP server on standard input and output, for editors and agents. Its tools check the\n" +
			"folder's tree, run its tests, compare it with another one, and answer questions about made-up worlds. They read the\n" +
			"folder and what is below --root, write nothing, and use no network.",
		Args: oneOfItsCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case d.dir != "":
				return d.serve(cmd)
			case d.root != "":
				return errors.New("--root is for --policy-dir DIR, the folder that the tools read: name it")
			}
			return cmd.Help()
		},
	}
	cmd.Flags().StringVar(&d.dir, "policy-dir", "", "serve tools that read the policy tree in this `folder`")
	cmd.Flags().StringVar(&d.root, "root", "", "the `folder` of the other trees and facts that a tool's arguments may name; without it they name none")
	cmd.AddCommand(newMCPPin())
	return cmd
}

// serve serves the tools until the client closes standard input, or the command's context ends.
func (d *desk) serve(cmd *cobra.Command) error {
	if err := d.validate(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	err := d.server(log).Run(cmd.Context(), &mcp.IOTransport{
		Reader: io.NopCloser(cmd.InOrStdin()), Writer: kept{cmd.OutOrStdout()}, MaxLineLength: mostMessage,
	})
	if ended := context.Cause(cmd.Context()); ended != nil {
		return ended
	}
	if err != nil {
		return fmt.Errorf("the client's message can't be read: %w", err)
	}
	return nil
}

// mostMessage limits a client's message, in bytes.
const mostMessage = 4 << 20

// kept is a writer that stays open.
type kept struct{ io.Writer }

// Close implements io.Closer.
func (kept) Close() error { return nil }

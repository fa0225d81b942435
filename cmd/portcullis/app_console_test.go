package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/console"
)

// TestEmptySecretMakesNoPublicClient guarantees that an empty file of the console's secret ends the start. Without the
// secret the console would be a public client.
func TestEmptySecretMakesNoPublicClient(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, _ := serveSettings()
	settings.Console.Issuer, settings.Console.SecretFile = "https://login.example", file
	_, _, err := newConsoleServer(t.Context(), settings, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9003}, console.Config{})
	if err == nil || !strings.Contains(err.Error(), "--console-client-secret-file") {
		t.Error(err)
	}
}

package message_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// call is a warm tools/call of the modern era with 393 bytes.
var call = []byte(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"ExampleClient","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},` +
	`"name":"search_issues","arguments":{"owner":"octo","repo":"hello","query":"is:open label:bug","page":1,"labels":["bug","p1"]}}}`)

// BenchmarkRead reads the call and checks its headers. Beside it is the same by a decoder that judges nothing.
func BenchmarkRead(b *testing.B) {
	h := headers(version, "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "search_issues")
	b.Run("judged", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(call)))
		for b.Loop() {
			m, fault := message.Read(call)
			if fault != nil {
				b.Fatal(fault.Text)
			}
			if _, fault = m.Era(h); fault != nil {
				b.Fatal(fault.Text)
			}
		}
	})
	b.Run("strict decoder", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(call)))
		for b.Loop() {
			dec := jsontext.NewDecoder(bytes.NewBuffer(call))
			for {
				if _, err := dec.ReadToken(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

package message_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// TestAnswersHaveStableBytes guarantees each form that the door answers in.
func TestAnswersHaveStableBytes(t *testing.T) {
	for want, got := range map[string][]byte{
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x"}}`: message.Error(nil, message.CodeInternal, "x"),
		`{"jsonrpc":"2.0","id":"a","error":{"code":-32001,"message":"You may not.\n\"<b>\"","data":{"reason":"r","n":-3,"list":["a",""],"none":[],"o":{"b":"","a":""}}}}`: message.Error([]byte(`"a"`), message.CodeDenied,
			"You may not.\n\"<b>\"", message.Text("reason", "r"), message.Number("n", -3), message.Texts("list", []string{"a", ""}), message.Texts("none", nil),
			message.Object("o", message.Text("b", ""), message.Text("a", ""))),
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}`: message.Denial([]byte("1"), message.Legacy, "no"),
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"no"}],"isError":true,"_meta":{"portcullis/denial":{"code":"c"}}}}`: message.Denial([]byte("1"),
			message.Modern, "no", message.Text("code", "c")),
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"\uFFFD\"}}": message.Error(nil, message.CodeParse, "\xff"),
	} {
		if string(got) != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// FuzzAnswers guarantees that an answer is JSON with what it was made of, for any texts.
func FuzzAnswers(f *testing.F) {
	f.Add("text", "name", "value\x00\u2028\xff", int64(-1))
	f.Fuzz(func(t *testing.T, text, name, value string, n int64) {
		data := []message.Member{message.Text(name+"1", value), message.Number(name+"2", n), message.Texts(name+"3", []string{value, text})}
		var read struct {
			ID     any
			Error  struct{ Message string }
			Result struct {
				Content []struct{ Text string }
				IsError bool
			}
		}
		clean := strings.ToValidUTF8(text, "\uFFFD")
		body := message.Error(nil, message.CodeDenied, text, data...)
		if err := json.Unmarshal(body, &read); err != nil || read.Error.Message != clean || read.ID != nil {
			t.Fatalf("%s: %v", body, err)
		}
		body = message.Denial([]byte(`"i"`), message.Modern, text, data...)
		if err := json.Unmarshal(body, &read); err != nil || !read.Result.IsError || read.Result.Content[0].Text != clean || read.ID != "i" {
			t.Fatalf("%s: %v", body, err)
		}
	})
}

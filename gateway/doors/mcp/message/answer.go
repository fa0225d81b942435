package message

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// denialKey is the key of `_meta` under which the result of a denied call carries its data.
const denialKey = "portcullis/denial"

// Member is a member of an object that the door writes. Members keep their order.
type Member struct {
	name  string
	value []byte
}

// Text is a member with a string. Invalid UTF-8 in it is replaced.
func Text(name, value string) Member { return Member{name, quote(nil, value)} }

// Number is a member with a whole number.
func Number(name string, value int64) Member {
	return Member{name, strconv.AppendInt(nil, value, 10)}
}

// Texts is a member with an array of strings.
func Texts(name string, values []string) Member {
	out := []byte{'['}
	for i, value := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = quote(out, value)
	}
	return Member{name, append(out, ']')}
}

// Object is a member with an object.
func Object(name string, members ...Member) Member { return Member{name, object(nil, members)} }

// Error renders a JSON-RPC error. The id is raw; nil becomes null. Without data the member is absent.
func Error(id []byte, code int, text string, data ...Member) []byte {
	members := []Member{Number("code", int64(code)), Text("message", text)}
	if len(data) > 0 {
		members = append(members, Object("data", data...))
	}
	return envelope(id, Object("error", members...))
}

// Denial renders the result of a tool call that is denied: text for the model, `isError`, and the data in `_meta`.
func Denial(id []byte, era Era, text string, data ...Member) []byte {
	var members []Member
	if era == Modern {
		members = append(members, Text("resultType", "complete"))
	}
	content := append(object([]byte{'['}, []Member{Text("type", "text"), Text("text", text)}), ']')
	members = append(members, Member{"content", content}, Member{"isError", []byte("true")})
	if len(data) > 0 {
		members = append(members, Object("_meta", Object(denialKey, data...)))
	}
	return envelope(id, Object("result", members...))
}

// envelope renders a JSON-RPC response.
func envelope(id []byte, outcome Member) []byte {
	if id == nil {
		id = []byte("null")
	}
	return object(nil, []Member{Text("jsonrpc", "2.0"), {"id", id}, outcome})
}

// object appends an object.
func object(dst []byte, members []Member) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(quote(dst, m.name), ':')
		dst = append(dst, m.value...)
	}
	return append(dst, '}')
}

// quote appends a JSON string.
func quote(dst []byte, s string) []byte {
	dst, err := jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		panic("message: quote: " + err.Error()) // it fails for invalid UTF-8 only
	}
	return dst
}

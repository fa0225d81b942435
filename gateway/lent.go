package gateway

import (
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// own makes strings of values that the server lent, all in one piece of memory: whoever
// keeps one keeps them all, so they are to be short and no secrets.
func own(out []string, lent ...[]byte) {
	size := 0
	for _, value := range lent {
		size += len(value)
	}
	var all strings.Builder
	all.Grow(size)
	for _, value := range lent {
		all.Write(value)
	}
	rest := all.String()
	for i, value := range lent {
		out[i], rest = rest[:len(value)], rest[len(value):]
	}
}

// setHeader sets a header by its canonical name, in which only a word's first letter is
// large. The server copies name and value.
func setHeader(h *fasthttp.ResponseHeader, canonical, value string) {
	var name [32]byte
	var room [128]byte
	h.SetCanonical(append(name[:0], canonical...), append(room[:0], value...))
}

// sent are the values of a header as copies, none where it was not sent; in room, when
// they fit there.
func sent(h *fasthttp.RequestHeader, name string, room ...string) []string {
	out := room[:0]
	for _, value := range h.PeekAll(name) {
		out = append(out, string(value))
	}
	return out
}

// ownMethod is the method as a string that outlives the request.
func ownMethod(lent []byte) string {
	for _, known := range fiber.DefaultMethods {
		if string(lent) == known {
			return known
		}
	}
	return string(lent)
}

// splitTarget cuts the query from a raw request target.
func splitTarget(target string) (path, query string, hasQuery bool) {
	return strings.Cut(target, "?")
}

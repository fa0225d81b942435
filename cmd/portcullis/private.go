package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
)

// maxRefusal bounds the text of an answer that is not 200, in bytes.
const maxRefusal = 4 << 10

// askPrivate sends a request to the private listener of a gateway. The caller closes the body of the answer. An answer
// that is not 200 is an error with its text.
func askPrivate(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the gateway does not answer: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := bufio.NewReader(io.LimitReader(resp.Body, maxRefusal)).ReadString('\n') // the status says it, too
	return nil, fmt.Errorf("the gateway answers %s: %s", resp.Status, oneLine(text))
}

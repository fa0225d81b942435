package private

import (
	"bufio"
	"fmt"
	"io"
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxRefusal bounds the text of an answer that is not 200, in bytes.
const maxRefusal = 4 << 10

// Do sends a request to the private listener of a gateway. The caller closes the body of the answer. An answer
// that is not 200 is an error with its text.
func Do(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultClient.Do(req) //nolint:gosec // the operator names the gateway
	if err != nil {
		return nil, fmt.Errorf("the gateway does not answer: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := bufio.NewReader(io.LimitReader(resp.Body, maxRefusal)).ReadString('\n') // the status says it, too
	return nil, fmt.Errorf("the gateway answers %s: %s", resp.Status, resources.OneLine(text))
}

package message

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ElicitsURL reports whether the client can lead its user to a URL.
func (c Client) ElicitsURL() bool {
	var has struct {
		Elicitation struct {
			URL *struct{} `json:"url"`
		} `json:"elicitation"`
	}
	return json.Unmarshal(c.Capabilities, &has) == nil && has.Elicitation.URL != nil
}

// LeadToURL renders the modern result that has the client lead its user to a URL and then retry. The retry has the client's
// input under the key. data is for clients that do not lead users by themselves.
func LeadToURL(id []byte, key, url, text string, data ...Member) []byte {
	params := Object("params", Text("mode", "url"), Text("message", text), Text("url", url), Text("elicitationId", key))
	requests := Object("inputRequests", Object(key, Text("method", "elicitation/create"), params))
	return envelope(id, Object("result", Text("resultType", "input_required"), requests, Object("_meta", Object(denialKey, data...))))
}

// Input is a client's input for the gateway. Rest is the end of its key, Accepted the user's consent. Two inputs in one
// request are none: the zero value.
type Input struct {
	Rest     string
	Accepted bool
}

// TakeInput returns a parsed request without its inputs under keys that begin with prefix, or nil for a request without one.
// Values keep their text. Their members are sorted.
func (m *Message) TakeInput(body []byte, prefix string) (stripped []byte, input Input, err error) {
	if len(m.InputResponses) == 0 {
		return nil, Input{}, nil
	}
	var request, params, inputs map[string]jsontext.Value
	if err = json.Unmarshal(m.InputResponses, &inputs); err != nil {
		return nil, Input{}, err
	}
	taken := 0
	for key, value := range inputs {
		if rest, taking := strings.CutPrefix(key, prefix); taking {
			delete(inputs, key)
			input, taken = inputOf(rest, value), taken+1
		}
	}
	if taken == 0 {
		return nil, Input{}, nil
	}
	if taken > 1 {
		input = Input{}
	}
	if err = json.Unmarshal(body, &request); err != nil {
		return nil, Input{}, err
	}
	if err = json.Unmarshal(request["params"], &params); err != nil {
		return nil, Input{}, err
	}
	delete(params, "inputResponses")
	if len(inputs) > 0 {
		if params["inputResponses"], err = sorted(inputs); err != nil {
			return nil, Input{}, err
		}
	}
	if request["params"], err = sorted(params); err != nil {
		return nil, Input{}, err
	}
	stripped, err = sorted(request)
	return stripped, input, err
}

func inputOf(rest string, value jsontext.Value) Input {
	var said struct {
		Action string `json:"action"`
	}
	return Input{rest, json.Unmarshal(value, &said) == nil && said.Action == "accept"}
}

// sorted renders an object with its members by name.
func sorted(members map[string]jsontext.Value) ([]byte, error) {
	return json.Marshal(members, json.Deterministic(true), jsontext.PreserveRawStrings(true))
}

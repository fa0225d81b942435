package message_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

const schemaOfParams = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"limits":{"type":"object","properties":{"rows":{"type":"integer","x-mcp-header":"Rows"}}},
	"dry":{"type":"boolean","x-mcp-header":"Dry"},
	"x-mcp-header":{"type":"string"},
	"any":true,
	"list":{"type":"array","items":{"type":"string","x-mcp-header":"Never"}}}}`

// TestParamHeadersAreRead guarantees that annotations are found along properties, in a stable order.
func TestParamHeadersAreRead(t *testing.T) {
	want := []message.ParamHeader{
		{Header: "Mcp-Param-Dry", Path: []string{"dry"}},
		{Header: "Mcp-Param-Rows", Path: []string{"limits", "rows"}},
		{Header: "Mcp-Param-Region", Path: []string{"region"}},
	}
	if got, err := message.ParamHeaders([]byte(schemaOfParams)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for name, schema := range map[string]string{
		"number":           `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`,
		"no type":          `{"properties":{"a":{"x-mcp-header":"A"}}}`,
		"at the root":      `{"type":"object","x-mcp-header":"A"}`,
		"empty":            `{"properties":{"a":{"type":"string","x-mcp-header":""}}}`,
		"line break":       `{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nB"}}}`,
		"colon":            `{"properties":{"a":{"type":"string","x-mcp-header":"A:"}}}`,
		"not a string":     `{"properties":{"a":{"type":"string","x-mcp-header":1}}}`,
		"the same by case": `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`,
	} {
		if got, err := message.ParamHeaders([]byte(schema)); err == nil {
			t.Errorf("%s is taken: %v", name, got)
		}
	}
}

// TestParamHeadersMustEqualTheArguments guarantees that headers repeat the arguments as the schema names them.
func TestParamHeadersMustEqualTheArguments(t *testing.T) {
	params, err := message.ParamHeaders([]byte(schemaOfParams))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		arguments string
		h         message.Headers
		modern    string // a part of the fault, "" for none
		legacy    string
	}{
		"all equal":            {`{"region":"eu","limits":{"rows":42},"dry":true}`, headers("Mcp-Param-Region", "eu", "Mcp-Param-Rows", "42.0", "mcp-param-dry", "true"), "", ""},
		"encoded":              {`{"region":"é"}`, headers("Mcp-Param-Region", "=?base64?w6k=?="), "", ""},
		"none":                 {`{}`, headers("Mcp-Param-Unknown", "x"), "", ""},
		"null":                 {`{"region":null}`, headers(), "", ""},
		"empty":                {`{"region":""}`, headers("Mcp-Param-Region", ""), "", ""},
		"empty and encoded":    {`{"region":""}`, headers("Mcp-Param-Region", "=?base64??="), "", ""},
		"empty but missing":    {`{"region":""}`, headers(), "Region is missing", ""},
		"empty but another":    {`{"region":"eu"}`, headers("Mcp-Param-Region", ""), "Region must equal", "Region must equal"},
		"empty number":         {`{"limits":{"rows":0}}`, headers("Mcp-Param-Rows", ""), "Rows must equal", "Rows must equal"},
		"null but sent empty":  {`{"region":null}`, headers("Mcp-Param-Region", ""), "must not be sent", "must not be sent"},
		"missing":              {`{"region":"eu"}`, headers(), "Region is missing", ""},
		"differs":              {`{"region":"eu"}`, headers("Mcp-Param-Region", "us"), "Region must equal params.arguments.region", "Region must equal params.arguments.region"},
		"twice":                {`{"region":"eu"}`, headers("Mcp-Param-Region", "eu", "Mcp-Param-Region", "us"), "sent once", "sent once"},
		"null but sent":        {`{"region":null}`, headers("Mcp-Param-Region", "null"), "must not be sent", "must not be sent"},
		"absent but sent":      {`{}`, headers("Mcp-Param-Rows", "1"), "must not be sent", "must not be sent"},
		"absent above":         {`{"limits":[]}`, headers("Mcp-Param-Rows", "1"), "must not be sent", "must not be sent"},
		"number differs":       {`{"limits":{"rows":42}}`, headers("Mcp-Param-Rows", "43"), "Rows must equal", "Rows must equal"},
		"number in hex":        {`{"limits":{"rows":16}}`, headers("Mcp-Param-Rows", "0x1p4"), "Rows must equal", "Rows must equal"},
		"number over the safe": {`{"limits":{"rows":9007199254740993}}`, headers("Mcp-Param-Rows", "9007199254740992"), "Rows must equal", "Rows must equal"},
		"not whole":            {`{"limits":{"rows":1.5}}`, headers("Mcp-Param-Rows", "1.5"), "Rows must equal", "Rows must equal"},
		"an object":            {`{"region":{}}`, headers("Mcp-Param-Region", "x"), "Region must equal", "Region must equal"},
		"boolean in capitals":  {`{"dry":true}`, headers("Mcp-Param-Dry", "True"), "Dry must equal", "Dry must equal"},
	} {
		m := read(t, request("tools/call", `{"name":"a","arguments":`+c.arguments+`}`))
		for era, want := range map[message.Era]string{message.Modern: c.modern, message.Legacy: c.legacy} {
			fault := m.ParamFault(c.h, era, params)
			if want == "" && fault != nil || want != "" && (fault == nil || fault.Code != -32020 || fault.Status != 400 || !strings.Contains(fault.Text, want)) {
				t.Errorf("%s in era %d: %+v, want %q", name, era, fault, want)
			}
		}
	}
}

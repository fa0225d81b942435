package wire_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

// TestMediaTypeIsJSONInUTF8Alone guarantees it in all letters and with all other parameters.
func TestMediaTypeIsJSONInUTF8Alone(t *testing.T) {
	for value, want := range map[string][2]bool{
		"application/json":                            {true, true},
		"Application/JSON":                            {true, true},
		" application/json ;charset=UTF-8":            {true, true},
		`application/json; charset="utf-8"`:           {true, true},
		"application/json; profile=x; charset=utf-8":  {true, true},
		"application/json;":                           {true, true},
		"application/json; charset=utf-16":            {true, false},
		`application/json; CHARSET="UTF-16LE"`:        {true, false},
		"application/json; charset=latin1":            {true, false},
		"application/json; charset=":                  {false, false},
		"application/json; charset*=utf-8''utf%2D16":  {true, false},
		"application/json; charset*0=ut; charset*1=f": {true, false},
		"application/json; charset=utf-8; charset=x":  {false, false},
		"application/json; charset":                   {false, false},
		"application/json, application/json":          {false, false},
		"application/jsonx":                           {false, false},
		"text/plain":                                  {false, false},
		"":                                            {false, false},
	} {
		json, utf8 := wire.MediaType(value)
		if got := [2]bool{json, json && utf8}; got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

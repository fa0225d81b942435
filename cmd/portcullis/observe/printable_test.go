package observe

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/resources"
)

// madeCredentials are a key, a token and a bearer's value, made anew; secret is the part of
// each that no line may show.
func madeCredentials(t testing.TB) (out []struct{ text, secret string }) {
	t.Helper()
	master, err := resources.ReadMasterKey(strings.NewReader(base64.StdEncoding.EncodeToString([]byte(rand.Text() + rand.Text()))))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := authn.NewSigner(master)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signer.Sign(authn.TokenRequest{Subject: "user-a-v1", TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	key, _ := resources.NewAPIKeys(master).New(resources.IDs{Now: time.Now, Random: rand.Reader})
	for _, text := range []string{key, token, "Bearer " + rand.Text()} {
		out = append(out, struct{ text, secret string }{text, text[len(text)-20:]})
	}
	return out
}

// TestNoLineShowsACredential, whichever text of it holds one, in either format.
func TestNoLineShowsACredential(t *testing.T) {
	for _, c := range madeCredentials(t) {
		for _, format := range []string{"json", "text"} {
			var out bytes.Buffer
			log := newLogger(&out, format, slog.LevelDebug)
			log.Info("message "+c.text, "s", c.text, "quoted", `"`+c.text+`"`, "error", errors.New(c.text), "list", []string{c.text},
				slog.Group("group", slog.Any("map", map[string]string{c.text: c.text})), c.text, 1)
			RedisLog{log}.Printf(t.Context(), "%s", c.text)
			access := newAccessLog(&out, format, slog.LevelInfo)
			lines := 2
			fields := reflect.TypeFor[gateway.Record]()
			for i := range fields.NumField() {
				if fields.Field(i).Type.Kind() != reflect.String {
					continue
				}
				record := benchRecord()
				reflect.ValueOf(&record).Elem().Field(i).SetString("x/" + c.text + "/y")
				access.request(&record)
				lines++
			}
			if strings.Contains(out.String(), c.secret) || strings.Count(out.String(), "\n") != lines {
				t.Errorf("%d lines: %s", lines, out.String())
			}
		}
	}
}

// TestMessageOfACommandShowsNoCredential: a flag may be misspelt that has one.
func TestMessageOfACommandShowsNoCredential(t *testing.T) {
	for _, c := range madeCredentials(t) {
		var out bytes.Buffer
		fmt.Fprintln(Printable(&out), "portcullis: unknown flag: --tokn="+c.text+"\u009b2J")
		if got := out.String(); strings.Contains(got, c.secret) || !strings.HasSuffix(got, "\n") || strings.Contains(got, "\u009b") {
			t.Errorf("%q", got)
		}
	}
}

// FuzzLine guarantees that any request and any message make one line. A terminal shows it as it is,
// it has no credential, and JSON gives everything else back.
func FuzzLine(f *testing.F) {
	made := madeCredentials(f)
	for _, text := range []string{"", "a\nb", "\u2028\u202e\u009b", "\x00\x7f\xff", `\"`, "\U000e0041", "Bearer ", "%", `\u0022`, "\ufffd"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, c := range made {
			for _, text := range []string{before + after, before + c.text + after} {
				record := benchRecord()
				record.Path, record.Err = text, errors.New(text)
				for _, format := range []string{"json", "text"} {
					var out bytes.Buffer
					newAccessLog(&out, format, slog.LevelInfo).request(&record)
					newLogger(&out, format, slog.LevelInfo).Warn(text, "value", text)
					for line := range strings.Lines(out.String()) {
						whole, ended := strings.CutSuffix(line, "\n")
						if !ended || strings.Contains(whole, c.secret) || strings.ContainsFunc(whole, resources.Unseen) {
							t.Fatalf("%s: %q", format, line)
						}
						var fields map[string]any
						if format != "json" {
							continue
						}
						if err := json.Unmarshal([]byte(line), &fields); err != nil {
							t.Fatalf("%v: %q", err, line)
						}
						if path, exists := fields["path"].(string); exists && !strings.Contains(path, "…") && path != text && utf8.ValidString(text) {
							t.Fatalf("%q became %q", text, path)
						}
					}
					if strings.Count(out.String(), "\n") != 2 {
						t.Fatalf("%s: %q", format, out.String())
					}
				}
			}
		}
	})
}

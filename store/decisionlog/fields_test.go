package decisionlog_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// notRecorded are the parts of a verdict that no record has, since policy does not read them or something else says them.
var notRecorded = []string{
	".Question.Principal.Client.Until",                             // the token's end says nothing about the verdict
	".Question.SubjectID", ".Question.Through", ".Question.Denied", // the subject, the target and the reason say them
	".Question.Route.Spec", ".Question.Route.Method", ".Question.Route.Host", ".Question.Route.Path", ".Question.Route.Place", ".Question.Route.Action",
	".Question.Route.Claims", ".Question.Route.Audience", ".Question.Route.Area", ".Question.Route.Upstream", ".Question.Route.MCP.Method", ".Question.Route.MCP.Name", // the row of that name has them
	".Question.Facts.Agent", ".Question.Facts.Delegation", // the agent's part says what they mean for the verdict
	".Question.Withheld", // the code and the reason of the decision are its
	".Question.Call",     // the code is its, and no record quotes arguments
	".Question.Agent.Ref", ".Question.Agent.Consented", ".Question.Agent.Any",
	".Question.Facts.Subject.PartnerID", ".Question.Facts.Subject.Keys", ".Decision.BundleRevision",
}

// TestARecordHasEachFieldOfAQuestion guarantees that a new field of a question or a verdict is recorded, or is listed
// above.
func TestARecordHasEachFieldOfAQuestion(t *testing.T) {
	var whole resources.Judgement
	n := 0
	fill(reflect.ValueOf(&whole).Elem(), &n)
	whole.Question.Action, _ = resources.ParseAction("project:instance:read")
	granting := whole
	granting.Path, granting.Question.App, granting.Question.Target = resources.PathGrantable, nil, resources.TargetAt("proj-a-v1", "instances/i-1")
	whole.Question.Grant = nil
	for name, j := range map[string]*resources.Judgement{"a question": &whole, "a grant": &granting} {
		text := must.Get(decisionlog.Lines(decisionlog.Options{Input: input}, j))(t)
		records := must.Get(decisionlog.Records(text))(t)
		want, got := map[string]string{}, map[string]string{}
		leaves(reflect.ValueOf(j).Elem(), "", want)
		leaves(reflect.ValueOf(records[0].Judgement()).Elem(), "", got)
		for path, value := range want {
			skip := slices.ContainsFunc(notRecorded, func(part string) bool {
				return path == part || strings.HasPrefix(path, part+".") || strings.HasPrefix(path, part+"[")
			})
			if !skip && got[path] != value {
				t.Errorf("%s: %s is %q in the record, and was %q", name, path, got[path], value)
			}
			if skip && got[path] == value {
				t.Errorf("%s: %s is recorded: take it out of the list", name, path)
			}
		}
	}
}

// fill gives each part of a value that is not the zero value.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Type.PkgPath() != "sync/atomic" {
				fill(v.Field(i), n)
			}
		}
	default:
		panic("no value for " + v.Kind().String())
	}
}

// leaves adds the values of all parts by their paths.
func leaves(v reflect.Value, path string, out map[string]string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			leaves(v.Elem(), path, out)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			out[path] = string(v.Bytes())
			return
		}
		for i := range v.Len() {
			leaves(v.Index(i), fmt.Sprintf("%s[%d]", path, i), out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Type.PkgPath() != "sync/atomic" {
				leaves(v.Field(i), path+"."+field.Name, out)
			}
		}
	default:
		out[path] = fmt.Sprint(v)
	}
}

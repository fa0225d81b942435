package doors_test

import (
	"fmt"
	"net/http"
	"testing"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc/codes"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// callAnswer is the answer of a door of calls.
type callAnswer struct {
	status int
	body   []byte
	// reason is that of an allowed call, if the door has a place for it.
	reason string
	// identity gives the service's headers of an allowed call.
	identity func(name string) string
}

// answer holds an allowed call to the question: another caller, account or action is a difference.
func (a callAnswer) answer(q question) answer {
	switch a.status {
	case 200:
		for i, want := range []string{q.caller.user, q.account, q.action} {
			if got := a.identity(identity[i]); got != want {
				a.reason += fmt.Sprintf("; with %s %q", identity[i], got)
			}
		}
		return answer{200, true, a.reason}
	case 403:
		return answer{status: a.status, reason: refusal(a.body)}
	}
	return answer{status: a.status}
}

// askForwardAuth asks as nginx does.
func askForwardAuth(t *testing.T, w *doorsWorld, q question) answer {
	status, header, raw := w.exchange(t, q.caller, "GET", "", "/forward-auth", "",
		"X-Original-Method", method, "X-Original-URI", "/"+q.path, "X-Forwarded-Host", hostOf(q.action))
	return callAnswer{status: status, body: raw, identity: header.Get}.answer(q)
}

// askVerify asks as Envoy does over HTTP.
func askVerify(t *testing.T, w *doorsWorld, q question) answer {
	status, header, raw := w.exchange(t, q.caller, method, hostOf(q.action), "/verify/"+q.path, "")
	return callAnswer{status: status, body: raw, identity: header.Get}.answer(q)
}

// askRoute asks in the words of AuthZEN. The account in question is a part of it.
func askRoute(t *testing.T, w *doorsWorld, q question) answer {
	var d decision
	call := map[string]any{"type": "route", "id": "/" + q.path, "properties": map[string]any{"host": hostOf(q.action)}}
	body := q.evaluation()
	body["resource"], body["action"] = call, map[string]any{"name": method}
	if a := w.evaluate(t, q.caller, "/access/v1/evaluation", body, &d); a.status != 200 {
		return a
	}
	return d.answer()
}

// askProxied makes the call itself, through the gateway. An account action on a path without an account
// has it in a header.
func askProxied(t *testing.T, w *doorsWorld, q question) answer {
	status, header, _ := w.exchange(t, q.caller, method, hostOf(q.action), "/"+q.path, "", "X-Account-ID", q.account)
	a := callAnswer{status: status, identity: func(name string) string { return header.Get(arrived + name) }}.answer(q)
	if place := header.Get(arrived + "Target"); status == 200 && place != "/"+q.path {
		a.reason += "; arrived at " + place
	}
	return a
}

// askEnvoy asks as Envoy does over gRPC.
func askEnvoy(t *testing.T, w *doorsWorld, q question) answer {
	return w.check(t, q, &auth.AttributeContext_HttpRequest{Host: hostOf(q.action)}, nil)
}

// askEnvoyNamed is askEnvoy with the action in Envoy's configuration, without a row for the host.
func askEnvoyNamed(t *testing.T, w *doorsWorld, q question) answer {
	return w.check(t, q, &auth.AttributeContext_HttpRequest{Host: "other.example"}, map[string]string{"action": q.action})
}

// ask asks as Envoy does; nil is an error. A question that was not decided in time is asked again.
func (w *doorsWorld) ask(t *testing.T, call *auth.AttributeContext_HttpRequest, extensions map[string]string) (got *auth.CheckResponse) {
	request := &auth.CheckRequest{Attributes: &auth.AttributeContext{
		ContextExtensions: extensions, Request: &auth.AttributeContext_Request{Http: call},
	}}
	for range 20 {
		var err error
		if got, err = w.envoy().Check(t.Context(), request); err != nil {
			t.Errorf("%v: %v", call, err)
			return nil
		}
		if !harness.SaysUndecided([]byte(got.GetDeniedResponse().GetBody())) {
			break
		}
	}
	return got
}

// check asks about the question's call.
func (w *doorsWorld) check(t *testing.T, q question, call *auth.AttributeContext_HttpRequest, extensions map[string]string) answer {
	call.Method, call.Path, call.Headers = method, "/"+q.path, map[string]string{}
	if q.caller.token != "" {
		call.Headers["authorization"] = "Bearer " + q.caller.token
	}
	if q.caller.key != "" {
		call.Headers["x-api-key"] = q.caller.key
	}
	got := w.ask(t, call, extensions)
	if got == nil {
		return answer{}
	}
	denied := got.GetDeniedResponse()
	a := callAnswer{status: int(denied.GetStatus().GetCode()), body: []byte(denied.GetBody())}
	if codes.Code(got.GetStatus().GetCode()) == codes.OK {
		header := http.Header{}
		for _, h := range got.GetOkResponse().GetHeaders() {
			header.Set(h.GetHeader().GetKey(), h.GetHeader().GetValue())
		}
		a = callAnswer{status: 200, reason: got.GetDynamicMetadata().GetFields()["reason"].GetStringValue(), identity: header.Get}
	}
	return a.answer(q)
}

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// MostAnswer limits an answer, in bytes of JSON.
	MostAnswer = 1 << 20
	// mostError limits the text of an error, in bytes.
	mostError = 4 << 10
)

// Tool names a tool.
type Tool struct{ Name, Title, Description string }

// Add adds a tool to the server. Arguments that do not fit the schema of In are rejected before run. An error of run is
// a result that is an error, and so is an answer over MostAnswer.
func Add[In, Out any](s *mcp.Server, t Tool, run func(ctx context.Context, args In) (Out, error)) {
	closed := false
	mcp.AddTool(s, &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: schemaOf[In](), OutputSchema: schemaOf[Out](),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}, func(ctx context.Context, _ *mcp.CallToolRequest, args In) (*mcp.CallToolResult, json.RawMessage, error) {
		out, err := answer(ctx, args, run)
		return nil, out, err
	})
}

// answer runs a tool. A panic is an error: it would end the process.
func answer[In, Out any](ctx context.Context, args In, run func(context.Context, In) (Out, error)) (raw json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			raw, err = nil, Failed{Cause: fmt.Errorf("mcp: panic: %v\n%s", p, debug.Stack())}
		}
	}()
	out, err := run(ctx, args)
	if err == nil {
		raw, err = json.Marshal(out)
	}
	if err == nil && len(raw) > MostAnswer {
		err = fmt.Errorf("the answer exceeds %d bytes; ask for less", MostAnswer)
	}
	if err != nil {
		return nil, bounded{err}
	}
	return raw, nil
}

// Failed is an internal error. Its text has nothing of the cause.
type Failed struct{ Cause error }

// Error implements error.
func (Failed) Error() string { return "the tool failed" }

// Unwrap returns the cause.
func (f Failed) Unwrap() error { return f.Cause }

// bounded is an error with a bounded text, without credentials.
type bounded struct{ error }

// Error implements error.
func (b bounded) Error() string {
	text := resources.MaskCredentials(b.error.Error())
	if len(text) > mostError {
		text = strings.ToValidUTF8(text[:mostError], "") + " …"
	}
	return text
}

// schemaOf returns the schema of a type. It panics for a type without one.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[resources.Time](): {Type: "string", Description: "RFC 3339, UTC"},
	}})
	if err != nil {
		panic(fmt.Sprintf("mcp: %T: %v", *new(T), err))
	}
	return s
}

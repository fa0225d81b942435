package message

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a tree of names on the way to values: "*" is each item of an array.
type node map[string]node

// taskIDs are the places of task ids, in messages of both sides and of both eras.
var taskIDs = func() node {
	related := node{metaRelatedTask: {"taskId": nil}}
	return node{
		"params": {"taskId": nil, "_meta": related, "notifications": {"taskIds": {"*": nil}}},
		"result": {"taskId": nil, "task": {"taskId": nil}, "tasks": {"*": {"taskId": nil}}, "_meta": related},
	}
}()

// ReplaceTaskIDs returns a message with each task id in it as text returns it, and all else byte for byte. An error of text
// ends it.
func ReplaceTaskIDs(body []byte, text func(id string) (string, error)) ([]byte, error) {
	return replace(body, taskIDs, func(raw []byte) ([]byte, error) {
		if raw[0] != '"' {
			return raw, nil
		}
		id, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, errNotJSON
		}
		out, err := text(string(id))
		if err != nil || out == string(id) {
			return raw, err
		}
		return quote(nil, out), nil
	})
}

// HasTaskID returns false for a message in which ReplaceTaskIDs would find no id. An escape may stand for any letter.
func HasTaskID(body []byte) bool {
	return bytes.Contains(body, []byte("task")) || bytes.Contains(body, []byte(`\u`))
}

// visit calls hit with the place of each value at the end of the tree.
func (w *walk) visit(tree node, hit func(Place) error) error {
	switch kind := w.kind(); {
	case tree == nil:
		place, err := w.value()
		if err != nil {
			return err
		}
		return hit(place)
	case kind == '[' && has(tree, "*"):
		return w.array(func() error { return w.visit(tree["*"], hit) })
	case kind == '{' && !has(tree, "*"):
		_, err := w.object(slices.Collect(maps.Keys(tree)), func(name string) error {
			if sub, ok := tree[name]; ok {
				return w.visit(sub, hit)
			}
			return w.skip()
		})
		return err
	}
	return w.skip()
}

func has(tree node, name string) bool { _, ok := tree[name]; return ok }

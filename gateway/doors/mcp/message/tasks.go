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

// ReplaceTaskIDs returns a message with each task id in it as replace returns it, and all else byte for byte. An error
// of replace ends it.
func ReplaceTaskIDs(body []byte, replace func(id string) (string, error)) ([]byte, error) {
	w, err := newWalk(body)
	if err != nil {
		return nil, err
	}
	var edits []edit
	hit := func(id string, place Place) error {
		text, err := replace(id)
		if err == nil && text != id {
			edits = append(edits, edit{place, quote(nil, text)})
		}
		return err
	}
	if err := w.visit(taskIDs, hit); err != nil {
		return nil, err
	}
	if err := w.end(); err != nil {
		return nil, err
	}
	return splice(body, edits), nil
}

// HasTaskID returns false for a message in which ReplaceTaskIDs would find no id. An escape may stand for any letter.
func HasTaskID(body []byte) bool {
	return bytes.Contains(body, []byte("task")) || bytes.Contains(body, []byte(`\u`))
}

// visit calls hit with each string at the end of the tree.
func (w *walk) visit(tree node, hit func(string, Place) error) error {
	switch kind := w.kind(); {
	case tree == nil && kind == '"':
		text, place, err := w.text()
		if err != nil {
			return err
		}
		return hit(text, place)
	case kind == '[' && has(tree, "*"):
		return w.array(func() error { return w.visit(tree["*"], hit) })
	case kind == '{' && len(tree) > 0 && !has(tree, "*"):
		_, err := w.object(slices.Collect(maps.Keys(tree)), func(name string) error {
			if sub, ok := tree[name]; ok {
				return w.visit(sub, hit)
			}
			return w.skip()
		})
		return err
	case kind == jsontext.KindInvalid:
		return errNotJSON
	default:
		return w.skip()
	}
}

func has(tree node, name string) bool { _, ok := tree[name]; return ok }

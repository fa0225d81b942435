package replay_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/replay"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestOnlyWhatTheTreeReadsKeepsARecordFromBeingJudged: a masked part does if a rule reads it, also above, below and by another
// way. So does a masked verdict.
func TestOnlyWhatTheTreeReadsKeepsARecordFromBeingJudged(t *testing.T) {
	t.Parallel()
	const denies = "\n\nelse := {\"allow\": false, \"reason\": \"no\"}"
	project := `decision := {"allow": true, "reason": "so it was"} if input.target.project == ""` + denies
	for name, c := range map[string]struct {
		rules, part string
		judged      bool
	}{
		"a part beside":           {project, "/input/target/rest", true},
		"the part":                {project, "/input/target/project", false},
		"what is above":           {project, "/input/target", false},
		"all":                     {project, "/input", false},
		"what is below":           {project, "/input/target/project/0", false},
		"a name that begins so":   {project, "/input/target/project_state", true},
		"the reason":              {project, "/result/reason", true},
		"the verdict":             {project, "/result/allow", false},
		"the result":              {project, "/result", false},
		"a place of the reason":   {strings.Replace(project, "so it was", "so it was {user}", 1), "/input/subject/id", false},
		"by its object":           {`decision := {"allow": true, "reason": "so it was"} if object.get(input.target, input.action.verb, "") == ""` + denies, "/input/target/rest", false},
		"by a name with a dot":    {`decision := {"allow": true, "reason": "so it was"} if not input.subject.assignments["a.b"]` + denies, "/input/subject/assignments/a.b", false},
		"by another rule":         {project + "\n\ndeny if input.target.rest == \"x\"\n\nread if not deny", "/input/target/rest", true},
		"by a rule that is asked": {`decision := {"allow": true, "reason": "so it was"} if not deny` + denies + "\n\ndeny if input.target.rest == \"x\"", "/input/target/rest", false},
		"where with changes it":   {`decision := {"allow": true, "reason": "so it was"} if deny with input.target.rest as ""` + denies + "\n\ndeny if input.target.rest == \"\"", "/input/target/user", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := replay.New(compiled(t, policytest.Decision(t, c.rules)))
			j := judgement(t)
			a := newInput(t, j)
			r.AddMasked(t.Context(), masked(j, a, c.part))
			report := r.Report()
			if (report.Judged == 1) != c.judged || report.Judged+len(report.NotJudged) != 1 || len(report.Flips) > 0 || len(report.Failed) > 0 {
				t.Errorf("%+v", report)
			}
		})
	}
}

// TestAnOlderFormIsNotJudged: an input without members of today is not guessed.
func TestAnOlderFormIsNotJudged(t *testing.T) {
	j := judgement(t)
	older := replaced(t, newInput(t, j), []string{"target", "level"}, nil)
	r := replay.New(compiled(t, policytest.Decision(t, `decision := {"allow": true, "reason": "so it was"}`)))
	r.AddMasked(t.Context(), masked(j, older, "/input/target/rest"))
	if report := r.Report(); report.Judged != 0 || report.NotJudged["recorded in an older form"] != 1 {
		t.Errorf("%+v", report)
	}
}

// TestWhatIsJudgedWithoutAPartIsJudgedAsTheWhole: of recorded decisions each part of the input is taken away and replaced.
// The embedded tree gives the same verdict or none; and it gives one without parts that its rules do not read.
func TestWhatIsJudgedWithoutAPartIsJudgedAsTheWhole(t *testing.T) {
	t.Parallel()
	a := newAsker(t, theTree(t))
	set := compiled(t, theTree(t))
	judged, not := map[string]int{}, map[string]int{}
	for range 150 {
		j := a.next(t)
		whole := newInput(t, j)
		parts := pathsOf(t, whole)
		for range 6 {
			part := parts[a.IntN(len(parts))]
			for _, value := range []any{nil, "masked", true, map[string]any{"x": true}} {
				r := replay.New(set)
				r.AddMasked(t.Context(), masked(j, replaced(t, whole, part, value), "/input/"+strings.Join(part, "/")))
				report := r.Report()
				name := strings.Join(part[:min(len(part), 2)], ".")
				judged[name] += report.Judged
				not[name] += len(report.NotJudged)
				if report.Differs() || report.Reasons > 0 || report.Judged+len(report.NotJudged) != 1 {
					t.Fatalf("%s %v: %+v", j.ID, part, report)
				}
			}
		}
	}
	if judged["target.rest"] == 0 || judged["subject.status"] > 0 || not["subject.status"] == 0 {
		t.Errorf("judged %v, not judged %v", judged, not)
	}
}

// pathsOf are the paths of all members of an object, without dots in names.
func pathsOf(t *testing.T, input []byte) (out [][]string) {
	t.Helper()
	var document map[string]any
	must.Do(t, json.Unmarshal(input, &document))
	var below func(path []string, object map[string]any)
	below = func(path []string, object map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			place := append(slices.Clone(path), name)
			out = append(out, place)
			if nested, ok := object[name].(map[string]any); ok && !strings.Contains(name, "/") {
				below(place, nested)
			}
		}
	}
	below(nil, document)
	return slices.DeleteFunc(out, func(path []string) bool { return strings.Contains(path[len(path)-1], "/") })
}

// replaced is the input with another value at a path, nil for none.
func replaced(t *testing.T, input []byte, path []string, value any) []byte {
	t.Helper()
	var document map[string]any
	must.Do(t, json.Unmarshal(input, &document))
	object := document
	for _, name := range path[:len(path)-1] {
		object = object[name].(map[string]any)
	}
	if value == nil {
		delete(object, path[len(path)-1])
	} else {
		object[path[len(path)-1]] = value
	}
	return must.Get(json.Marshal(document))(t)
}

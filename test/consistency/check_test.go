package consistency_test

import (
	"fmt"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// verdict is the result of judging a history by the model.
type verdict struct {
	judged, strict, writes, unknown int
	staleAllows, staleDenies        int
	// count is the number of violations, and violations has the first of them.
	count      int
	violations []string
}

// maxListed bounds violations.
const maxListed = 10

func (v *verdict) violated(format string, args ...any) {
	v.count++
	if len(v.violations) < maxListed {
		v.violations = append(v.violations, fmt.Sprintf(format, args...))
	}
}

// judge checks a history against the model. Every register begins with false.
func judge(ops []op) *verdict {
	v := &verdict{}
	byRegister := map[string][]op{}
	for _, o := range ops {
		byRegister[o.register] = append(byRegister[o.register], o)
	}
	for name, ops := range byRegister {
		v.register(name, ops)
	}
	v.equalAnswers(ops)
	sort.Strings(v.violations)
	return v
}

// register judges one register. Each answer must have a value that the model allows. One order must explain all changes
// and strict answers.
func (v *verdict) register(name string, ops []op) {
	var writes, reads []op
	linear := []porcupine.Operation{}
	for i, o := range ops {
		if o.write {
			writes = append(writes, o)
			if v.writes++; o.unknown {
				v.unknown++
			}
		} else {
			reads = append(reads, o)
		}
		if o.write || o.strict {
			linear = append(linear, porcupine.Operation{ClientId: i, Input: o, Call: int64(o.call), Output: o.value, Return: int64(o.ret)})
		}
	}
	sort.Slice(writes, func(i, j int) bool { return writes[i].call < writes[j].call })
	for i := 1; i < len(writes); i++ {
		if writes[i].call < writes[i-1].ret {
			v.violated("%s: two changes at once: the test is wrong", name)
		}
	}
	for _, r := range reads {
		v.judged++
		if r.strict {
			v.strict++
		}
		if allowed(writes, r) {
			continue
		}
		if r.value {
			v.staleAllows++
		} else {
			v.staleDenies++
		}
		v.violated("%s: %t from replica %d at %s (sent %s, strict %t), after %s", name, r.value, r.replica, r.ret, r.call, r.strict, last(writes, r))
	}
	model := registerModel()
	if !porcupine.CheckOperations(model.ToModel(), linear) {
		v.violated("%s: no order of its changes explains its strict answers", name)
	}
}

// allowed reports whether the model allows the value: it must be of the last change answered before the question was
// sent, or of a later change sent before the question was answered.
func allowed(writes []op, r op) bool {
	for i := len(writes) - 1; i >= 0; i-- {
		w := writes[i]
		if w.call >= r.ret {
			continue
		}
		if w.value == r.value {
			return true
		}
		if !w.unknown && w.ret < r.call {
			return false
		}
	}
	return !r.value
}

func last(writes []op, r op) string {
	for i := len(writes) - 1; i >= 0; i-- {
		if w := writes[i]; w.call < r.call {
			return fmt.Sprintf("%t was written by replica %d (sent %s, answered %s, unknown %t)", w.value, w.replica, w.call, w.ret, w.unknown)
		}
	}
	return "no change"
}

// registerModel is a register of one bit; a change of unknown outcome may have happened or not.
func registerModel() porcupine.NondeterministicModel {
	return porcupine.NondeterministicModel{
		Init: func() []any { return []any{false} },
		Step: func(state, input, output any) []any {
			switch o := input.(op); {
			case !o.write && output == state:
				return []any{state}
			case !o.write:
				return nil
			case o.unknown:
				return []any{state, o.value}
			default:
				return []any{o.value}
			}
		},
	}
}

// equalAnswers reports different answers to the same question at the same revision of the account's facts.
func (v *verdict) equalAnswers(ops []op) {
	type pair struct{ question, revision string }
	first := map[pair]op{}
	for _, o := range ops {
		if o.revision == "" {
			continue
		}
		k := pair{o.question, o.revision}
		if before, ok := first[k]; !ok {
			first[k] = o
		} else if before.value != o.value {
			v.violated("%s at revision %s: %t by replica %d at %s, %t by replica %d at %s", o.question, o.revision,
				before.value, before.replica, before.ret, o.value, o.replica, o.ret)
		}
	}
}

func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*p))]
}

package memo_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/memo"
)

func key(i int) string { return fmt.Sprint("key ", i) }

// held returns how many of the first n keys are hits, each with its own value.
func held(t *testing.T, table *memo.Table[string, int], n int) (hits int) {
	t.Helper()
	for i := range n {
		switch v := table.Get(key(i)); {
		case v == nil:
		case *v != i:
			t.Fatalf("key %d has the value %d", i, *v)
		default:
			hits++
		}
	}
	return hits
}

// TestValueIsFoundByItsWholeKey, and by nothing else; a newer value takes its place.
func TestValueIsFoundByItsWholeKey(t *testing.T) {
	table := memo.New[string, int](64)
	table.Put("ab", 1)
	for _, other := range []string{"", "a", "abc", "AB", "ba"} {
		if v := table.Get(other); v != nil {
			t.Errorf("%q has the value %d", other, *v)
		}
		if v := memo.GetBytes(table, []byte(other)); v != nil {
			t.Errorf("%q has the value %d by its bytes", other, *v)
		}
	}
	table.Put("ab", 2)
	if v := table.Get("ab"); v == nil || *v != 2 {
		t.Errorf("got %v", v)
	}
	if v := memo.GetBytes(table, []byte("ab")); v == nil || *v != 2 {
		t.Errorf("got %v by its bytes", v)
	}
	table.Delete("ab")
	if v := table.Get("ab"); v != nil {
		t.Errorf("got %d after Delete", *v)
	}
}

// TestKeysOfSeveralFieldsDifferInEach.
func TestKeysOfSeveralFieldsDifferInEach(t *testing.T) {
	type name struct {
		account  string
		revision int64
		id       string
	}
	table := memo.New[name, int](64)
	keys := []name{{}, {account: "a"}, {id: "a"}, {revision: 1}, {"a", 1, "a"}, {"a", 1, "b"}, {"ab", 1, ""}}
	for i, k := range keys {
		table.Put(k, i)
	}
	for i, k := range keys {
		if v := table.Get(k); v == nil || *v != i {
			t.Errorf("%+v: %v, want %d", k, v, i)
		}
	}
}

// TestTableIsBounded, and hardly evicts anything before it is nearly full.
func TestTableIsBounded(t *testing.T) {
	const room = 1 << 12
	table := memo.New[string, int](room)
	for i := range room * 3 / 4 {
		table.Put(key(i), i)
	}
	if hits := held(t, table, room*3/4); hits < room*3/4-3 {
		t.Errorf("%d of %d are there", hits, room*3/4)
	}
	for i := range 5 * room {
		table.Put(key(i), i)
	}
	if hits := held(t, table, 5*room); hits > room || hits < room*9/10 {
		t.Errorf("%d are there, in a table for %d", hits, room)
	}
	small := memo.New[string, int](1)
	for i := range 100 {
		small.Put(key(i), i)
	}
	if hits := held(t, small, 100); hits != 8 {
		t.Errorf("%d are there, in the smallest table", hits)
	}
}

// TestEachEntryBeyondTheRoomEvictsOne, and a new value of a known key none.
func TestEachEntryBeyondTheRoomEvictsOne(t *testing.T) {
	const room = 8
	table := memo.New[string, int](room)
	for i := range 3 * room {
		table.Put(key(i), i)
		if v := table.Get(key(i)); v == nil {
			t.Fatalf("key %d is not there after it was put", i)
		}
		table.Put(key(i), i)
		if hits := held(t, table, i+1); hits != min(i+1, room) {
			t.Fatalf("%d are there after %d", hits, i+1)
		}
	}
}

// TestHitsKeepAnEntry while others come that nobody asks for.
func TestHitsKeepAnEntry(t *testing.T) {
	const room, asked = 1 << 8, 32
	table := memo.New[string, int](room)
	for i := range asked {
		table.Put(key(i), i)
	}
	for i := asked; i < 20*room; i++ {
		if held(t, table, asked) < asked {
			t.Fatalf("one is gone after %d others", i-asked)
		}
		table.Put(key(i), i)
	}
}

// TestEmptiedTableHoldsNothing of before, and has all its room again.
func TestEmptiedTableHoldsNothing(t *testing.T) {
	const room = 1 << 8
	table := memo.New[string, int](room)
	for i := range 2 * room {
		table.Put(key(i), i)
	}
	table.Clear()
	if hits := held(t, table, 2*room); hits != 0 {
		t.Errorf("%d are there after Clear", hits)
	}
	for i := range room / 2 {
		table.Put(key(i), i)
	}
	if hits := held(t, table, room/2); hits != room/2 {
		t.Errorf("%d of %d are there afterwards", hits, room/2)
	}
}

// TestReadersAndWritersAtOnceFindNoOtherKeysValue.
func TestReadersAndWritersAtOnceFindNoOtherKeysValue(t *testing.T) {
	table := memo.New[string, int](64)
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 20_000 {
				n := (i*7 + g) % 200
				if v := table.Get(key(n)); v != nil && *v != n {
					t.Errorf("key %d has the value %d", n, *v)
					return
				}
				switch i % 1000 {
				case 0:
					table.Clear()
				case 1:
					table.Delete(key(n))
				default:
					table.Put(key(n), n)
				}
			}
		})
	}
	wait.Wait()
}

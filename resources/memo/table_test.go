package memo_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/memo"
)

func key(i int) string { return fmt.Sprint("key ", i) }

// held is how many of the first n keys are there, each with its own value.
func held(t *testing.T, table *memo.Table[int], n int) (there int) {
	t.Helper()
	for i := range n {
		switch v := table.Get([]byte(key(i))); {
		case v == nil:
		case *v != i:
			t.Fatalf("key %d has the value %d", i, *v)
		default:
			there++
		}
	}
	return there
}

// TestAValueIsFoundByItsWholeKey, and by nothing else; a newer one takes its place.
func TestAValueIsFoundByItsWholeKey(t *testing.T) {
	table := memo.New[int](64)
	table.Put("ab", 1)
	for _, other := range []string{"", "a", "abc", "AB", "ba"} {
		if v := table.Get([]byte(other)); v != nil {
			t.Errorf("%q has the value %d", other, *v)
		}
	}
	table.Put("ab", 2)
	if v := table.Get([]byte("ab")); v == nil || *v != 2 {
		t.Errorf("got %v", v)
	}
}

// TestATableIsBounded, and hardly loses anything before it is nearly full.
func TestATableIsBounded(t *testing.T) {
	const room = 1 << 12
	table := memo.New[int](room)
	for i := range room * 3 / 4 {
		table.Put(key(i), i)
	}
	if there := held(t, table, room*3/4); there < room*3/4-3 {
		t.Errorf("%d of %d are there", there, room*3/4)
	}
	for i := range 5 * room {
		table.Put(key(i), i)
	}
	if there := held(t, table, 5*room); there > room || there < room*9/10 {
		t.Errorf("%d are there, in a table for %d", there, room)
	}
	small := memo.New[int](1)
	for i := range 100 {
		small.Put(key(i), i)
	}
	if there := held(t, small, 100); there != 8 {
		t.Errorf("%d are there, in the smallest table", there)
	}
}

// TestWhatIsAskedForStays while others come that nobody asks for.
func TestWhatIsAskedForStays(t *testing.T) {
	const room, asked = 1 << 8, 32
	table := memo.New[int](room)
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

// TestManyUseATableAtOnce: nobody finds another key's value.
func TestManyUseATableAtOnce(t *testing.T) {
	table := memo.New[int](64)
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for i := range 20_000 {
				n := (i*7 + g) % 200
				if v := table.Get([]byte(key(n))); v != nil && *v != n {
					t.Errorf("key %d has the value %d", n, *v)
					return
				}
				table.Put(key(n), n)
			}
		})
	}
	wait.Wait()
}

package decisionlog_test

import (
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

const childDir = "PORTCULLIS_DECISIONLOG_CHILD"

// TestADiskThatIsFull refuses writes, in a child of its own: a required verdict is refused, what was told
// stays, nothing of what was refused is there, and writing goes on when there is room again.
func TestADiskThatIsFull(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestADiskThatIsFull$")
		child.Env = append(os.Environ(), childDir+"="+t.TempDir())
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	w := newWorld(t)
	w.dir = dir
	l := w.open(t)
	var ids []string
	refused := 0
	limitFiles(t, 20_000)
	for n := range 200 {
		switch err := l.Record(t.Context(), judgement(t, n)); {
		case err == nil:
			ids = append(ids, judgement(t, n).ID)
		case resources.IsKind(err, resources.KindUnavailable):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if len(ids) == 0 || refused == 0 || l.Stats().Failures == 0 {
		t.Fatalf("%d told, %d refused, %+v", len(ids), refused, l.Stats())
	}
	limitFiles(t, 1<<30)
	for n := 200; n < 210; n++ {
		must.Do(t, l.Record(t.Context(), judgement(t, n)))
		ids = append(ids, judgement(t, n).ID)
	}
	must.Do(t, l.Close())
	if got := w.ids(t); !slices.Equal(got, ids) {
		t.Errorf("%d records of %d that were told", len(got), len(ids))
	}
	w.wantWhole(t, int64(len(ids)))
}

func limitFiles(t *testing.T, bytes uint64) {
	t.Helper()
	var limit syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = min(bytes, limit.Max)
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
}

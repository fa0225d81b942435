package servers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/scratch"
)

// readyTime is how long a server may take until it can be used.
const readyTime = 90 * time.Second

// running is what has to end with the test process.
var running struct {
	sync.Mutex
	stop []func()
}

// Run is m.Run with Temporary, after which every server is stopped. TestMain calls it.
func Run(m *testing.M) int {
	defer Stop()
	if err := Temporary(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return m.Run()
}

// Temporary has this process, and those that it starts, make their temporary files in a folder of its own. Stop removes
// it. If the process is killed, a later one removes it.
func Temporary() error {
	dir, err := folderIn("")
	if err != nil {
		return err
	}
	return os.Setenv("TMPDIR", dir)
}

// Stop stops every server, and removes the folders; for a TestMain that does more than Run.
func Stop() {
	running.Lock()
	defer running.Unlock()
	for i := len(running.stop) - 1; i >= 0; i-- {
		running.stop[i]()
	}
	running.stop = nil
}

// atEnd runs f when the test process is done.
func atEnd(f func()) {
	running.Lock()
	defer running.Unlock()
	running.stop = append(running.stop, f)
}

// process is a server that was started.
type process struct {
	cmd    *exec.Cmd
	output *bytes.Buffer
	done   chan struct{}
}

// start runs a program until the test process is done.
func start(path string, args ...string) (*process, error) { return startIn("", path, args...) }

// startIn is start in a folder.
func startIn(dir, path string, args ...string) (*process, error) {
	//nolint:gosec // a test starts what its environment names
	p := &process{cmd: exec.CommandContext(context.Background(), path, args...), output: &bytes.Buffer{}, done: make(chan struct{})}
	p.cmd.Dir, p.cmd.WaitDelay = dir, time.Second // what it has started may live on
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	// A test process that is killed takes its servers with it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	go func() {
		_ = p.cmd.Wait() // killed is how it ends
		close(p.done)
	}()
	atEnd(p.kill)
	return p, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
}

const (
	// ramDisk is memory that looks like a folder. A server's files there are as good as on a disk,
	// up to the end of the machine; no test causes that.
	ramDisk = "/dev/shm"
	// ramNeeded has to be free on it: a container may have next to nothing.
	ramNeeded = 4 << 30
)

// folder is a new folder, removed after the test process: in memory if there is enough.
func folder() (string, error) {
	var disk syscall.Statfs_t
	if syscall.Statfs(ramDisk, &disk) == nil && disk.Bavail*uint64(disk.Bsize) > ramNeeded { //nolint:gosec // a size is not negative
		return folderIn(ramDisk)
	}
	return folderIn("")
}

// folderIn makes it in a folder, or among the temporary files. It removes those of killed test processes there, which
// would fill the memory otherwise.
func folderIn(parent string) (string, error) {
	f, err := scratch.Make(parent, nil)
	if err == nil {
		atEnd(func() { _ = f.Remove() })
	}
	return f.Path, err
}

// until tries every 50 ms, for as long as a server may take.
func until(try func() error) error {
	for end := time.Now().Add(readyTime); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// missing skips a test without its server installed; in CI it fails.
func missing(t testing.TB, text string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}

package flood_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// crowding is the input of the crowd's process: each connection sends its requests in turn, over and over.
type crowding struct {
	Address  string
	Requests [][]string
	Within   time.Duration
}

// asksOfOne is how many different requests each connection of a crowd has.
const asksOfOne = 8

// crowd has a process of its own ask for a window, and returns what became of it.
func (g *gateway) crowd(t *testing.T, ask func(n int) string) *waits {
	t.Helper()
	input := crowding{Address: g.address, Within: crowdTime}
	n := int(time.Now().UnixMilli()) * crowd * asksOfOne
	for range crowd {
		names := make([]string, asksOfOne)
		for i := range names {
			names[i] = ask(n)
			n++
		}
		input.Requests = append(input.Requests, names)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envCrowd+"=yes")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdinPipe()
	if err != nil {
		t.Error(err)
		return &waits{}
	}
	go func() {
		_ = json.NewEncoder(pipe).Encode(input) // an error shows as the process's empty input
		_ = pipe.Close()
	}()
	out, err := cmd.Output()
	w := &waits{}
	if err == nil {
		err = json.Unmarshal(out, &w.answers)
	}
	if err != nil {
		t.Errorf("the crowd: %v %s", err, out)
	}
	return w
}

// beTheCrowd asks until the time is over, and says what was answered.
func beTheCrowd() int {
	var crowd crowding
	if err := json.NewDecoder(os.Stdin).Decode(&crowd); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19) // where it may not, it is in the way
	var all sync.WaitGroup
	w := &waits{}
	end := time.Now().Add(crowd.Within)
	for _, requests := range crowd.Requests {
		all.Go(func() {
			c, err := net.Dial("tcp", crowd.Address)
			if err != nil {
				w.add(0, 0)
				return
			}
			defer func() { _ = c.Close() }()
			answers := bufio.NewReader(c)
			for n := 0; time.Now().Before(end); n++ {
				sent, status := time.Now(), 0
				if _, err = io.WriteString(c, requests[n%len(requests)]); err == nil {
					status, err = answer(answers)
				}
				if w.add(status, time.Since(sent)); err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(w.answers); err != nil {
		return 2
	}
	return 0
}

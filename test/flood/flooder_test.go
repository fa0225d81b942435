package flood_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// flood is the input and the output of the other process.
type flood struct {
	Address    string
	Question   string // with %d where the user's number goes
	Slow, Cold int
	// First is the number of the first user, Seconds how long slow connections go on.
	First, Seconds int
	// AtOnce opens all connections for questions at once. Otherwise each asks before the next one
	// is opened: a process short of time would look like slow senders.
	AtOnce bool
	// Kept reads no answer before all questions are sent, and closes no connection before the
	// last one is answered.
	Kept bool
}

// outcome is what became of the flood.
type outcome struct {
	// Slow connections were open when the questions began; Ended were closed or answered by
	// the gateway before they were let go.
	Slow, Ended int
	// Answered by status; Failed had no answer.
	Answered map[int]int
	Failed   int
	// Sent is how long it took to send all questions, Took until the last was answered, in
	// milliseconds.
	Sent, Took int64
}

// start starts the flood, at lowest priority if idle is set, and gives its outcome when it is over.
func (f flood) start(t *testing.T, idle bool) (over func() outcome) {
	t.Helper()
	dst := must.Get(json.Marshal(f))(t)
	command := []string{os.Args[0]}
	if idle {
		command = whenIdle(command)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), envRole+"="+string(dst), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "slow\n" {
		t.Fatalf("the flood did not begin: %q %v", line, err)
	}
	return func() (o outcome) {
		must.Do(t, json.NewDecoder(lines).Decode(&o))
		return o
	}
}

// beTheFlood opens the slow connections, says so, and then asks all questions at once.
func beTheFlood() int {
	var f flood
	if err := json.Unmarshal([]byte(os.Getenv(envRole)), &f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19) // where it may not, it is in the way
	o := outcome{Answered: map[int]int{}}
	var slow []net.Conn
	for range f.Slow {
		c, err := net.Dial("tcp", f.Address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		_, _ = c.Write([]byte("POST /api/v1/authorize/x HTTP/1.1\r\nHost: g"))
		slow = append(slow, c)
	}
	o.Slow = len(slow)
	ended := make(chan int, 1)
	go trickle(slow, f.Seconds, ended)
	fmt.Println("slow")
	began := time.Now()
	f.questions(&o, began)
	o.Took = time.Since(began).Milliseconds()
	o.Ended = <-ended
	dst, _ := json.Marshal(o) // numbers
	fmt.Println(string(dst))
	return 0
}

// trickle sends a byte a second on each connection, and counts those that were ended within the
// seconds. The last one is for finding that: this process may have to wait for a processor.
func trickle(slow []net.Conn, seconds int, ended chan<- int) {
	for range seconds - 1 {
		for _, c := range slow {
			_, _ = c.Write([]byte("a"))
		}
		time.Sleep(time.Second)
	}
	n, until := 0, time.Now().Add(time.Second)
	for _, c := range slow {
		_ = c.SetReadDeadline(until)
		all, err := bufio.NewReader(c).ReadString(0)
		if !os.IsTimeout(err) && (err == nil || strings.HasPrefix(all, "HTTP/1.1 408") || all == "") {
			n++
		}
	}
	ended <- n
}

// questions asks all of them at once, each on a connection of its own.
func (f flood) questions(o *outcome, began time.Time) {
	var all, asked, answered sync.WaitGroup
	var mu, turn sync.Mutex
	asked.Add(f.Cold)
	answered.Add(f.Cold)
	for i := range f.Cold {
		all.Go(func() {
			status, sent := 0, int64(0)
			if !f.AtOnce {
				turn.Lock()
			}
			c, err := net.Dial("tcp", f.Address)
			if err == nil {
				_ = c.SetDeadline(time.Now().Add(time.Minute))
				_, _ = io.WriteString(c, strings.Replace(f.Question, "%d", strconv.Itoa(f.First+i), 1)) // an error shows as a missing answer
				sent = time.Since(began).Milliseconds()
			}
			if !f.AtOnce {
				turn.Unlock()
			}
			if f.Kept {
				asked.Done()
				asked.Wait()
			}
			if err == nil {
				status, _ = answer(bufio.NewReader(c))
			}
			if f.Kept {
				answered.Done()
				answered.Wait()
			}
			if err == nil {
				_ = c.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			o.Sent = max(o.Sent, sent)
			if status == 0 {
				o.Failed++
				return
			}
			o.Answered[status]++
		})
	}
	all.Wait()
}

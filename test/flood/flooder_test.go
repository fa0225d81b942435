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
)

// flood is what the other process is told and what it tells.
type flood struct {
	Address    string
	Question   string // with %d where the user's number goes
	Slow, Cold int
	// First is the number of the first user, Seconds how long slow connections go on.
	First, Seconds int
}

// outcome is what became of the flood.
type outcome struct {
	// Slow connections were open when the questions began; Ended were closed or answered by
	// the gateway before they were let go.
	Slow, Ended int
	// Answered by status; Failed had no answer.
	Answered map[int]int
	Failed   int
	// Took is how long all questions took together, in milliseconds.
	Took int64
}

// start starts the flood; it gives its outcome when it is over.
func (f flood) start(t *testing.T) (over func() outcome) {
	t.Helper()
	told, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+string(told), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "slow\n" {
		t.Fatalf("the flood did not begin: %q %v", line, err)
	}
	return func() (o outcome) {
		if err := json.NewDecoder(lines).Decode(&o); err != nil {
			t.Fatal(err)
		}
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
	f.questions(&o)
	o.Took = time.Since(began).Milliseconds()
	o.Ended = <-ended
	told, _ := json.Marshal(o) // numbers
	fmt.Println(string(told))
	return 0
}

// trickle sends a byte a second on each connection, and counts those that it ended.
func trickle(slow []net.Conn, seconds int, ended chan<- int) {
	for range seconds {
		for _, c := range slow {
			_, _ = c.Write([]byte("a"))
		}
		time.Sleep(time.Second)
	}
	n := 0
	for _, c := range slow {
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		all, err := bufio.NewReader(c).ReadString(0)
		if !os.IsTimeout(err) && (err == nil || strings.HasPrefix(all, "HTTP/1.1 408") || all == "") {
			n++
		}
	}
	ended <- n
}

// questions asks all of them at once, each on a connection of its own. Whoever has one asks before
// the next one is opened: a process that hardly gets on would look like slow senders.
func (f flood) questions(o *outcome) {
	var all sync.WaitGroup
	var mu, turn sync.Mutex
	for i := range f.Cold {
		all.Go(func() {
			status := 0
			turn.Lock()
			c, err := net.Dial("tcp", f.Address)
			if err == nil {
				_ = c.SetDeadline(time.Now().Add(time.Minute))
				_, err = io.WriteString(c, strings.Replace(f.Question, "%d", strconv.Itoa(f.First+i), 1))
			}
			turn.Unlock()
			if err == nil {
				status, _ = hear(bufio.NewReader(c))
				_ = c.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			if status == 0 {
				o.Failed++
				return
			}
			o.Answered[status]++
		})
	}
	all.Wait()
}

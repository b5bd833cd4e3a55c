// Standin takes the place of a program that uses JACCL in tests: it joins its
// group, works and ends, or dies, hangs and comes late where it is told to. Called
// as MLX's worker is that measures sends and receives, it takes that one's place, and
// is told what to do by the file beside it whose name ends in .orders.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fulmen/daemon/api/worker"
	"fulmen/daemon/e2e/jaccl"
)

// Exit codes that tests look for.
const (
	exitMixed      = 9  // of several groups
	exitReportedTo = 23 // told to die
)

func main() { os.Exit(run()) }

func run() int {
	die := flag.String("die", "", "the step at which a rank dies, as RANK:STEP, and how: exit (default), kill, well (with 0) or stop (it hangs), as RANK:STEP:HOW")
	late := flag.String("late", "", "how late a rank begins, as RANK:DURATION")
	work := flag.Duration("work", 0, "how long to work once joined; negative: for ever")
	stubborn := flag.Bool("stubborn", false, "take no notice of SIGTERM, as Python does when it hangs in JACCL")
	exchange := flag.Int64("exchange", 0, "how many bytes the ranks of a mesh send each other once joined, over all cables")
	at := flag.Int64("at", 0, "when to begin, in ns since 1970; rank 0 begins half a second sooner, so as to listen by then, and for that to be told")
	roomy := flag.Bool("roomy", false, "have room for all ranks at once, as on macOS")
	own := flag.Bool("own", false, "have a side channel of its own, so that no rank joins by the one that it was given")
	again := flag.String("again", "", "a file that is made when a rank dies: where it is there, nobody dies")
	args, isWorker := os.Args[1:], len(os.Args) > 1 && os.Args[1] == string(worker.CommandSendRecv)
	if isWorker {
		args = orders()
		endsWithInput()
	}
	if err := flag.CommandLine.Parse(args); err != nil {
		return 2
	}
	if *stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	o, err := jaccl.FromEnvironment(os.Environ())
	if err != nil {
		fmt.Fprintln(os.Stderr, "no group:", err)
		return 2
	}
	if rank, after, found := strings.Cut(*late, ":"); found && rank == strconv.Itoa(o.Rank) {
		d, err := time.ParseDuration(after)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		time.Sleep(d)
	}
	o.Tried = func(attempt int, wait time.Duration) {
		fmt.Fprintf(os.Stderr, "attempt %d to connect failed, waiting %v\n", attempt, wait)
	}
	o.At = func(s jaccl.Step) {
		if *at == 0 { // what is printed is carried too, and would be measured
			fmt.Println("step", s)
		}
		dieAt(*die, *again, o.Rank, s)
	}
	fmt.Printf("coordinator %s ring %t devices %v\n", o.Coordinator, o.Ring, o.Devices)
	o.Exchanges = *exchange > 0
	if *roomy {
		o.Network = jaccl.Roomy{}
	}
	if *at != 0 {
		due := time.Unix(0, *at)
		if o.Rank == 0 {
			due = due.Add(-time.Second / 2)
		}
		time.Sleep(time.Until(due))
	}
	if *own {
		time.Sleep(*work)
		return 0
	}
	began := time.Now()
	g, err := jaccl.Join(context.Background(), o)
	switch {
	case errors.Is(err, jaccl.ErrMixed):
		fmt.Fprintln(os.Stderr, err)
		return exitMixed
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1 // at once, as JACCL: all ranks fail within milliseconds of the first
	}
	defer g.Close()
	now := time.Now()
	fmt.Printf("joined rank %d of %d in %.3f s at %d\n", o.Rank, len(o.Devices), now.Sub(began).Seconds(), now.UnixNano())
	if *exchange > 0 {
		carried, err := g.Exchange(o, *exchange)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		for _, name := range slices.Sorted(maps.Keys(carried)) {
			fmt.Printf("rank %d: %s carried %d bytes\n", o.Rank, name, carried[name])
		}
	}
	if *work < 0 {
		forever() // nobody tells a rank that another one is dead
	}
	time.Sleep(*work)
	if isWorker {
		return report(o.Rank)
	}
	return 0
}

// orders are what the worker is told to do; nothing where nobody tells it.
func orders() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(self + ".orders")
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// endsWithInput ends this process with its input, as workers do: whoever started it
// is gone.
func endsWithInput() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}

// report gives a worker's result, without numbers: it has measured nothing.
func report(rank int) int {
	value, err := json.Marshal(worker.SendRecv{Backend: "jaccl", Rank: rank, Size: 2, DType: "float32"})
	if err == nil {
		out := worker.NewWriter(os.NewFile(worker.FD, "messages"))
		err = out.Write(worker.Message{Type: worker.TypeResult, Command: worker.CommandSendRecv, Value: value})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// dieAt ends this process where that was asked for, once per file.
func dieAt(request, again string, rank int, at jaccl.Step) {
	parts := strings.Split(request, ":")
	if len(parts) < 2 || parts[0] != strconv.Itoa(rank) || parts[1] != string(at) {
		return
	}
	if again != "" {
		file, err := os.OpenFile(again, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return
		}
		file.Close()
	}
	how := "exit"
	if len(parts) > 2 {
		how = parts[2]
	}
	fmt.Fprintln(os.Stderr, "told to die")
	switch how {
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		forever()
	case "stop":
		forever()
	case "well":
		os.Exit(0)
	}
	os.Exit(exitReportedTo)
}

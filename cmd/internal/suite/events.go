package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// result is how a package ended in one step.
type result struct {
	step, name string
	took       time.Duration
	failed     bool
	// faults are lines of its tests that say what is wrong, for the end of the report.
	faults []string
}

// report collects the results of all steps, and writes a line for each.
type report struct {
	out   io.Writer
	since time.Time
	mu    sync.Mutex
	all   int // packages, of all steps
	ended []result
}

// follow reads what `go test -json` writes, until its end. What a test wrote is
// shown where its package fails.
func (r *report) follow(step string, from io.Reader) error {
	output := map[string][]event{}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				e = event{Output: string(line)} // the go command's own words
			}
			r.take(step, e, output)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) take(step string, e event, output map[string][]event) {
	switch {
	case e.Package == "" && e.Output != "": // of the compiler, or of the go command
		r.mu.Lock()
		defer r.mu.Unlock()
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output":
		output[e.Package] = append(output[e.Package], e)
	case e.Test != "" && (e.Action == "pass" || e.Action == "skip"):
		kept := output[e.Package][:0]
		for _, s := range output[e.Package] {
			if s.Test != e.Test && !strings.HasPrefix(s.Test, e.Test+"/") {
				kept = append(kept, s)
			}
		}
		output[e.Package] = kept
	case e.Test == "" && (e.Action == "pass" || e.Action == "skip" || e.Action == "fail"):
		r.end(result{step: step, name: e.Package, took: time.Duration(e.Elapsed * float64(time.Second)), failed: e.Action == "fail"}, output[e.Package])
		delete(output, e.Package)
	}
}

// end counts a package, and says so.
func (r *report) end(done result, output []event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	word := "ok"
	if done.failed {
		word = "FAILED"
		for _, s := range output {
			fmt.Fprint(r.out, s.Output)
		}
		done.faults = faults(output)
	}
	r.ended = append(r.ended, done)
	fmt.Fprintf(r.out, "%s  %d of %d  %s %s, %s, %.1f s\n", clock(time.Since(r.since)), len(r.ended), r.all, word, short(done.name), done.step, done.took.Seconds())
}

// faults are the first lines by which each test says what is wrong: what follows them is
// often a long log.
func faults(output []event) []string {
	const most, width = 3, 300
	var all []string
	count := map[string]int{}
	for _, s := range output {
		if strings.Contains(s.Output, "_test.go:") && count[s.Test] < most {
			count[s.Test]++
			line := strings.TrimSpace(s.Output)
			all = append(all, s.Test+": "+line[:min(width, len(line))])
		}
	}
	return all
}

// clock writes minutes and seconds.
func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// slowest writes what took longest, and how long it took.
func (r *report) slowest(took cost) {
	slices.SortStableFunc(r.ended, func(a, b result) int { return cmp.Compare(b.took, a.took) })
	fmt.Fprintln(r.out, "\nThe slowest packages:")
	for _, e := range r.ended[:min(10, len(r.ended))] {
		fmt.Fprintf(r.out, "  %7.1f s  %s, %s\n", e.took.Seconds(), short(e.name), e.step)
	}
	for _, e := range r.ended {
		if e.failed {
			fmt.Fprintf(r.out, "FAILED: %s, %s\n", short(e.name), e.step)
			for _, line := range e.faults {
				fmt.Fprintln(r.out, " ", line)
			}
		}
	}
	fmt.Fprintf(r.out, "%d packages took %s.\n", len(r.ended), took)
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	out := flag.String("out", "build/bench.json", "where the numbers go")
	program := flag.String("worker", "build/bin/fulmen-rank", "the worker")
	only := flag.String("only", "", "one group of rows alone: "+strings.Join(names(groups()), ", "))
	shortest := flag.Bool("shortest", false, "measure everything once, which shows that it works and nothing else")
	nodes := flag.Int("nodes", 0, "with -only scale: measure so many daemons, and half as many")
	flag.Parse()
	if flag.NArg() == 2 && flag.Arg(0) == "forward" {
		if err := forwarder(flag.Arg(1)); err != nil {
			fmt.Fprintln(os.Stderr, "bench forward:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := bench(ctx, run{worker: *program, shortest: *shortest, nodes: *nodes, out: os.Stderr}, *only, *out)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "make bench:", err)
		os.Exit(1)
	}
}

// groups are all there are, in the order of the table. Their times are at most 25 minutes together, go build's included.
func groups() []group {
	return []group{
		{"cgo", 20 * time.Second, ofPackage("cgo")},
		{"python", 65 * time.Second, (*run).againstPython},
		{"blas", 25 * time.Second, (*run).blasGain},
		{"lifecycle", 25 * time.Second, (*run).lifecycle},
		{"hints", 55 * time.Second, ofPackage("hints")},
		{"callbacks", 80 * time.Second, (*run).callbackRows},
		{"daemon", 95 * time.Second, (*run).daemonRows},
		{"device", 95 * time.Second, (*run).gpuRows},
		{"paths", 145 * time.Second, (*run).pathRows},
		{"cluster", 145 * time.Second, (*run).clusterRows},
		{"scale", 120 * time.Second, (*run).scaleRows},
		{"watched", 125 * time.Second, (*run).watchedRows},
		{"job", 165 * time.Second, (*run).jobRows},
		{"jaccl", 125 * time.Second, (*run).jacclRows},
		{"models", 20 * time.Second, ofPackage("models")},
		{"copies", 100 * time.Second, (*run).copyRows},
		{"dashboard", 95 * time.Second, ofPackage("dashboard")},
	}
}

func names(all []group) []string {
	var out []string
	for _, g := range all {
		out = append(out, g.name)
	}
	return out
}

// bench measures everything, or one group, prints the table and writes the numbers.
func bench(ctx context.Context, b run, only, out string) error {
	wanted := groups()
	if only != "" {
		wanted = slices.DeleteFunc(wanted, func(g group) bool { return g.name != only })
	}
	if b.nodes > 0 && (only != "scale" || b.nodes > 64) {
		return errors.New("-nodes: it goes with -only scale, and is 64 at most")
	} else if b.nodes > 0 {
		wanted[0].within = scaleMany
	}
	if len(wanted) == 0 {
		return fmt.Errorf("-only: there is no group %q; there are %s", only, strings.Join(names(groups()), ", "))
	}
	var err error
	if b.folder, err = os.MkdirTemp("", "fulmen-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	b.python = "build/tools/bin/python3"
	rows := measure(ctx, b, wanted)
	printTable(os.Stdout, rows)
	if err := errors.Join(write(out, rows), failures(rows)); err != nil {
		return err
	}
	fmt.Println("\nwritten to", out)
	return nil
}

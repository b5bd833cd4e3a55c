package main

import (
	"fmt"
	"runtime"
)

// hintGoal is the p99 in milliseconds of a change's way to its document.
const hintGoal = 10.0

// goBenches are the benchmarks of packages, by the group that runs them.
func goBenches() map[string]goBench {
	p99 := new(hintGoal)
	return map[string]goBench{
		"cgo": {
			folder: "mlxbridge", name: "BenchmarkCgoCall", each: "100ms", rounds: 15, report: "calls into C", method: "an empty C function, runs of 0.1 s",
			metrics: []metric{{unit: "ns/op", name: "cgo call", shown: "ns", better: Lower}},
		},
		// The way from a change of the machine to its document, at a watcher of the ledger and at a client.
		// Of 69 changes the slowest is slower than the p99 in half of all rounds: the median of the slowest is the p99.
		"hints": {
			folder: "daemon", name: "BenchmarkHint", each: "69x", rounds: least, report: "from a change of the machine to its document",
			method: "69 changes of a Mac in memory a round, 3 areas in turn",
			metrics: []metric{
				{unit: "watcher-p50-us", name: "change to document, p50", shown: "ms", scale: 1e-3, better: Lower},
				{unit: "watcher-p99-us", name: "change to document, p99", shown: "ms", scale: 1e-3, better: Lower, goal: p99},
				{unit: "client-p50-us", name: "change to client, same node, p50", shown: "ms", scale: 1e-3, better: Lower},
				{unit: "client-p99-us", name: "change to client, same node, p99", shown: "ms", scale: 1e-3, better: Lower, goal: p99},
			},
		},
		"callbacks": {
			folder: "daemon/internal/facts", name: "BenchmarkOverDarwin", each: "69x", tags: "darwinsim", rounds: least,
			report: "from a callback of the simulated macOS to its document", method: "69 changes of a lane's speed a round, over simulated frameworks",
			metrics: []metric{
				{unit: "document-p50-us", name: "callback of macOS to document, p50", shown: "ms", scale: 1e-3, better: Lower},
				{unit: "document-p99-us", name: "callback of macOS to document, p99", shown: "ms", scale: 1e-3, better: Lower, goal: p99},
			},
		},
		"watchers": {
			folder: "daemon/internal/server", name: "BenchmarkFanOut100", each: "500ms", rounds: 9, report: "100 watchers", method: "real Unix sockets, as fast as they go",
			metrics: []metric{
				{unit: "events/s", name: "events to 100 watchers", shown: "events/s", better: Higher},
				{unit: "p50-us", name: "events to 100 watchers, p50", shown: "us", better: Lower},
				{unit: "p99-us", name: "events to 100 watchers, p99", shown: "us", better: Lower},
			},
		},
		"models": {
			folder: "daemon/internal/model/inventory", name: "BenchmarkFirstList", each: "1x", rounds: least, report: "the list of 10,000 files of models",
			method: "200 repositories of 50 files in Hugging Face's cache, which the kernel has read",
			metrics: []metric{
				{unit: "first-ms", name: "10,000 files of models, first list", shown: "ms", better: Lower, goal: new(1000.0)},
				{unit: "again-ms", name: "the same, list where nothing has changed", shown: "ms", better: Lower},
			},
		},
		"paths": pathBench(),
		"dashboard": {
			folder: "assets/dashboard/browser", name: "BenchmarkSixteen", each: "1x", rounds: least, report: "the dashboard of sixteen Macs",
			method: "Chromium without a graphics processor, 1440 x 900",
			metrics: []metric{
				{unit: "busy-percent", name: "dashboard of 16 Macs, all joined, every number moving: main thread", shown: "% of a core", better: Lower, goal: new(25.0)},
				{unit: "busy-networks-percent", name: "the same with the lines of networks too", shown: "% of a core", better: Lower, goal: new(25.0)},
				{unit: "render-ms", name: "dashboard of 16 Macs: drawn after the page was asked for", shown: "ms", better: Lower, goal: new(1000.0)},
				{unit: "pulled-ms", name: "dashboard of 16 Macs: red after a cable was pulled", shown: "ms", better: Lower, goal: new(500.0)},
			},
		},
	}
}

// ofPackage runs one of the benchmarks as a group.
func ofPackage(name string) func(*run) error {
	return func(b *run) error { return b.goBench(goBenches()[name], b.left()) }
}

// callbackRows measure the way from a callback of macOS to its document.
func (b *run) callbackRows() error {
	if runtime.GOOS != "linux" {
		return errNotMeasured("the simulated frameworks of macOS are for Linux")
	}
	return b.goBench(goBenches()["callbacks"], b.left())
}

// pathBench compares what paths are measured to give with what iperf3 and ping say of them. It runs before others what
// runs beside it: what is left of a busy machine falls differently on two programs.
func pathBench() goBench {
	g := goBench{
		folder: "daemon/internal/profile/probe", name: "BenchmarkAccuracy", each: "1x", nice: "-20", rounds: least,
		report: "paths against iperf3 and ping", method: "pairs whose order is drawn",
	}
	for _, path := range []struct{ key, name string }{{"plain", "veth"}, {"tbf-1g", "veth, tbf 1 Gb/s"}, {"tbf-100m", "veth, tbf 100 Mb/s"}} {
		for _, way := range []string{"up", "down"} {
			g.metrics = append(g.metrics, metric{unit: path.key + "-" + way + "-ratio", name: fmt.Sprintf("bandwidth %s, %s", way, path.name), row: offRow})
		}
		g.metrics = append(g.metrics,
			metric{unit: path.key + "-rtt-ratio", name: "round trip, " + path.name, shown: "ratio of times", better: Lower, against: "ping -A: 64 bytes between two kernels, here over TCP between two programs"},
			metric{unit: path.key + "-rtt-more-us", name: "round trip beyond ping's, " + path.name, shown: "us", better: Lower, against: "ping -A: what two programs take to wake up"},
			metric{unit: path.key + "-refresh-ms", name: "processor time of a refresh, both ends, " + path.name, shown: "ms", better: Lower, goal: new(refreshGoal)})
	}
	return g
}

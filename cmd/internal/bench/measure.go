package main

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"fulmen/cmd/internal/bench/stats"
)

const (
	// bandwidthGoal is by how many percent a measured bandwidth may differ from
	// iperf3's on a path that has one of its own.
	bandwidthGoal = 5.0
	// refreshGoal is the processor time in milliseconds of a refresh, both ends
	// together, that lets four watched nodes with a path to each other stay within
	// 0.5 % of a core: each takes part in six refreshes, at one end, every 5 min.
	refreshGoal = 0.005 * 300e3 / 3
)

// pathRows compare what paths are measured to give with what iperf3 and ping say
// of them.
func (b *run) pathRows() error {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return errNotMeasured("paths to compare are made of network namespaces, and they need Linux and root")
	}
	return b.goBench(goBenches()["paths"], b.left())
}

// offRow is a row of how far ratios are from 1, either way.
func offRow(m metric, method string, ratios []float64) Row {
	e := stats.Median(ratios)
	percent := func(ratio float64) float64 { return math.Abs(ratio-1) * 100 }
	off := e
	off.Value, off.Low, off.High = percent(e.Value), min(percent(e.Low), percent(e.High)), max(percent(e.Low), percent(e.High))
	if e.Low <= 1 && e.High >= 1 {
		off.Low = 0
	}
	return newRow(m.name, off, "% off", Lower, new(bandwidthGoal), fmt.Sprintf("iperf3 with as many connections; ratio %v, %v to %v", Number(e.Value), Number(e.Low), Number(e.High)), method)
}

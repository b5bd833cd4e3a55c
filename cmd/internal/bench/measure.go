package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"fulmen/cmd/internal/bench/stats"
)

const (
	// measureRounds is how often each path is measured, in pairs of both orders.
	measureRounds = 7
	// bandwidthGoal is by how many percent a measured bandwidth may differ from
	// iperf3's on a path that has one of its own.
	bandwidthGoal = 5.0
	// refreshGoal is the processor time in milliseconds of a refresh, both ends
	// together, that lets four watched nodes with a path to each other stay within
	// 0.5 % of a core: each takes part in six refreshes, at one end, every 5 min.
	refreshGoal = 0.005 * 300e3 / 3
)

// measureRows compare what paths are measured to give with what iperf3 and ping
// say of them.
func (b *run) measureRows() error {
	if err := b.gpuRows(); err != nil {
		return err
	}
	for _, tool := range []string{"iperf3", "ping"} {
		if _, err := exec.LookPath(tool); err != nil && !installTools() {
			fmt.Fprintf(os.Stderr, "bench: there is no %s to compare measured paths with. To mend it: sudo apt-get install iperf3 iputils-ping\n", tool)
			return nil
		}
	}
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "bench: paths to compare are made of network namespaces, and they need Linux and root")
		return nil
	}
	fmt.Fprintln(os.Stderr, "bench: paths against iperf3 and ping, for eight minutes")
	out, err := b.accuracy()
	if err != nil {
		return err
	}
	for _, path := range []struct{ key, name string }{
		{"plain", "veth"}, {"tbf-1g", "veth, tbf 1 Gb/s"}, {"tbf-100m", "veth, tbf 100 Mb/s"},
	} {
		for _, way := range []string{"up", "down"} {
			values, err := metricOf(out, path.key+"-"+way+"-ratio", measureRounds)
			if err != nil {
				return err
			}
			b.rows = append(b.rows, offRow(fmt.Sprintf("bandwidth %s, %s", way, path.name), values))
		}
		goal := refreshGoal
		for _, metric := range []struct {
			unit, name, in, against, method string
			goal                            *float64
		}{
			{"rtt-ratio", "round trip", "ratio of times", "ping -A", "a message of 64 bytes over TCP between two programs, and of 64 bytes between two kernels", nil},
			{"rtt-more-us", "round trip beyond ping's", "us", "ping -A", "what two programs take to wake up", nil},
			{"refresh-ms", "processor time of a refresh, both ends", "ms", "", "10 refreshes in a row", &goal},
		} {
			values, err := metricOf(out, path.key+"-"+metric.unit, measureRounds)
			if err != nil {
				return err
			}
			b.rows = append(b.rows, newRow(metric.name+", "+path.name, stats.Median(values), metric.in, Lower, metric.goal, metric.against, metric.method))
		}
	}
	return nil
}

// installTools fetches what is compared with, where the system lets it.
func installTools() bool {
	if os.Geteuid() != 0 {
		return false
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return false
	}
	fmt.Fprintln(os.Stderr, "bench: installing iperf3 and iputils-ping with apt-get")
	install := exec.Command("apt-get", "install", "-y", "-qq", "--no-install-recommends", "iperf3", "iputils-ping")
	install.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return install.Run() == nil
}

// accuracy runs the benchmark, and before others what runs beside it: what is
// left of a busy machine falls differently on two programs.
func (b *run) accuracy() ([]byte, error) {
	folder, err := os.MkdirTemp("", "fulmen-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "probe.test")
	if text, err := exec.CommandContext(b.ctx, "go", "test", "-c", "-o", program, "./daemon/internal/profile/probe").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c: %w\n%s", err, text)
	}
	command := exec.CommandContext(b.ctx, "nice", "-n", "-20", program, "-test.run", "^$", "-test.bench", "^BenchmarkAccuracy$",
		"-test.benchtime", "1x", "-test.count", strconv.Itoa(measureRounds))
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("BenchmarkAccuracy: %w\n%s", err, out)
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		return nil, fmt.Errorf("BenchmarkAccuracy was skipped:\n%s", out)
	}
	return out, nil
}

// offRow is a row of how far ratios are from 1, either way. The goal is reached
// where the interval of the ratios comes that near.
func offRow(name string, ratios []float64) Row {
	e := stats.Median(ratios)
	percent := func(ratio float64) float64 { return math.Abs(ratio-1) * 100 }
	nearest, farthest := min(percent(e.Low), percent(e.High)), max(percent(e.Low), percent(e.High))
	if e.Low <= 1 && e.High >= 1 {
		nearest = 0
	}
	goal := bandwidthGoal
	return Row{
		Name: name, Value: percent(e.Median), Low: nearest, High: farthest, Unit: "% off", Goal: &goal, Better: Lower, OK: nearest <= goal,
		Against: fmt.Sprintf("iperf3 with as many connections; ratio %.3f, %.3f to %.3f", e.Median, e.Low, e.High),
		Method:  fmt.Sprintf("pairs of both orders; median of %d, 95 %% interval", e.Samples),
	}
}

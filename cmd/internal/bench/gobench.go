package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// goBench is a benchmark of a package, and what it reports.
type goBench struct {
	folder, name   string
	each           string // -benchtime of a round
	tags, nice     string // empty: none, as usual
	report, method string
	rounds         int // before its rows are looked at
	metrics        []metric
}

// metric is a unit that a benchmark reports, and the row that is made of it.
type metric struct {
	unit, name, shown string
	scale             float64 // of what is reported; 0 is 1
	better            Better
	goal              *float64
	against           string
	row               func(m metric, method string, values []float64) Row // nil: the median's
}

// goBench runs a benchmark again and again until its rows are decided or the time is over. A package's own tests run it
// in its shortest form; here there is none.
func (b *run) goBench(g goBench, within time.Duration) error {
	if b.shortest {
		return nil
	}
	program, err := b.compiled(g)
	if err != nil {
		return err
	}
	values := map[string][]float64{}
	return b.sample(g.report, g.rounds, within, func(int) error {
		out, err := b.benchmark(g, program, nil)
		if err != nil {
			return err
		}
		for _, m := range g.metrics {
			value, err := metricOf(out, m.unit)
			if err != nil {
				return err
			}
			if m.scale != 0 {
				value *= m.scale
			}
			values[m.unit] = append(values[m.unit], value)
		}
		return nil
	}, func() (rows []Row) {
		for _, m := range g.metrics {
			if m.row != nil {
				rows = append(rows, m.row(m, g.method, values[m.unit]))
				continue
			}
			rows = append(rows, newRow(m.name, Median(values[m.unit]), m.shown, m.better, m.goal, m.against, g.method))
		}
		return rows
	})
}

// compiled are the tests of a benchmark's package as a program.
func (b *run) compiled(g goBench) (string, error) {
	program := filepath.Join(b.folder, filepath.Base(g.folder)+".test")
	return program, b.goTool("test", "-c", "-tags", g.tags, "-o", program, "./"+g.folder)
}

// benchmark runs a benchmark once, with an environment, and gives what it printed.
func (b *run) benchmark(g goBench, program string, environment []string) ([]byte, error) {
	arguments := []string{program, "-test.run", "^$", "-test.v", "-test.bench", "^" + g.name + "$", "-test.benchtime", g.each}
	if g.nice != "" {
		arguments = append([]string{"nice", "-n", g.nice}, arguments...)
	}
	command := exec.CommandContext(b.ctx, arguments[0], arguments[1:]...)
	command.Dir, command.Env = g.folder, append(os.Environ(), environment...)
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", g.name, err, out)
	}
	if why, skipped := skipOf(string(out)); skipped {
		return nil, errNotMeasured(why)
	}
	return out, nil
}

// skipOf is why a benchmark was skipped, and whether it was: with -test.v the reason stands on the line above, after the
// line of the source.
func skipOf(out string) (string, bool) {
	before, _, skipped := strings.Cut(out, "--- SKIP")
	lines := strings.Split(strings.TrimSpace(before), "\n")
	_, why, _ := strings.Cut(lines[len(lines)-1], ": ")
	return why, skipped
}

// metricOf reads a benchmark's metric out of what one run of it printed.
func metricOf(out []byte, unit string) (float64, error) {
	found := regexp.MustCompile(`([0-9.e+]+) `+regexp.QuoteMeta(unit)+`(?:\s|$)`).FindAllSubmatch(out, -1)
	if len(found) != 1 {
		return 0, fmt.Errorf("the benchmark printed %d results of %s, not 1:\n%s", len(found), unit, out)
	}
	return strconv.ParseFloat(string(found[0][1]), 64)
}

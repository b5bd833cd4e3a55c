package main

import (
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// goal is which share of the faults the tests must find.
const goal = 0.92

// packages are those that hold rules, each with the tests that show them.
var packages = [][]string{
	{"daemon/internal/job/phase", "daemon/internal/job"},
	{"daemon/internal/placement"},
	{"daemon/internal/topology"},
	{"daemon/internal/topology/readiness"},
	{"daemon/internal/ledger"},
	{"daemon/internal/store"},
	{"daemon/internal/rdma"},
	{"daemon/internal/rdma/change", "daemon/internal/rdma"},
	{"daemon/internal/relay"},
	{"daemon/internal/relay/sidechannel", "daemon/internal/relay"},
	{"daemon/internal/cluster"},
	{"daemon/internal/cluster/pairing"},
	{"daemon/internal/health"},
}

// equivalents are the faults that change nothing, with the reasons: lines
// "FAULT -- REASON", and comments.
//
//go:embed equivalent.txt
var equivalents string

func main() {
	count := flag.Int("n", 300, "how many faults")
	seed := flag.Uint64("seed", 1, "the order in which they are drawn; 0 draws one")
	in := flag.String("in", "", "only in this package")
	only := flag.String("only", "", "only faults whose name contains this, all of them")
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	if err := run(*count, *seed, *in, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(count int, seed uint64, in, only string) error {
	fmt.Printf("seed %d\n", seed)
	all := map[string][]mutant{} // by package
	lines, total := map[string]int{}, 0
	for _, p := range packages {
		if in != "" && p[0] != in {
			continue
		}
		mutants, n, err := mutantsOf(p[0])
		if err != nil {
			return err
		}
		all[p[0]], lines[p[0]] = mutants, n
		total += n
	}
	var results results
	began := time.Now()
	for _, p := range packages {
		mutants := all[p[0]]
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(mutants), func(i, k int) { mutants[i], mutants[k] = mutants[k], mutants[i] })
		share := (count*lines[p[0]] + total - 1) / max(total, 1)
		mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return isEquivalent(m) || !strings.Contains(m.String(), only) })
		if only != "" {
			share = len(mutants)
		}
		results = append(results, try(p, mutants, share)...)
		if share > 0 {
			fmt.Printf("%-42s %s, after %s\n", p[0], results.of(p[0]), time.Since(began).Round(time.Second))
		}
	}
	return results.report()
}

// isEquivalent reports whether a fault is listed as one that changes nothing.
func isEquivalent(m mutant) bool {
	return slices.ContainsFunc(strings.Split(equivalents, "\n"), func(line string) bool {
		name, _, _ := strings.Cut(line, " -- ")
		return name == m.String()
	})
}

// try puts in the faults of a package one after the other, as many as compile until
// there are enough, on all processors.
func try(packages []string, mutants []mutant, enough int) (out results) {
	var mu sync.Mutex
	var waiting sync.WaitGroup
	next, left := 0, enough
	for range runtime.GOMAXPROCS(0) {
		waiting.Go(func() {
			for {
				mu.Lock()
				if left == 0 || next == len(mutants) {
					mu.Unlock()
					return
				}
				m := mutants[next]
				next, left = next+1, left-1
				mu.Unlock()
				verdict := judge(m, packages)
				mu.Lock()
				if verdict == noFault {
					left++
				} else {
					out = append(out, result{m, verdict})
				}
				mu.Unlock()
				if verdict == survived {
					fmt.Printf("  not found: %s (line %d)\n", m, m.line)
				}
			}
		})
	}
	waiting.Wait()
	slices.SortFunc(out, func(a, b result) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.start, b.start)) })
	return out
}

type result struct {
	mutant
	verdict verdict
}

type results []result

func (r results) counts(pkg string) (found, all int) {
	for _, one := range r {
		if pkg == "" || one.pkg == pkg {
			all++
			if one.verdict == killed {
				found++
			}
		}
	}
	return found, all
}

func (r results) of(pkg string) string {
	found, all := r.counts(pkg)
	return fmt.Sprintf("%d of %d found", found, all)
}

func (r results) report() error {
	found, all := r.counts("")
	if all == 0 {
		return fmt.Errorf("no fault of that name; the packages are those of %s", filepath.Join("cmd", "internal", "mutate", "main.go"))
	}
	share := float64(found) / float64(all)
	fmt.Printf("%d of %d faults found, %.1f %%\n", found, all, 100*share)
	if share < goal {
		return fmt.Errorf("the goal is %.0f %%: test what was not found, or list it with its reason in cmd/internal/mutate/equivalent.txt", 100*goal)
	}
	return nil
}

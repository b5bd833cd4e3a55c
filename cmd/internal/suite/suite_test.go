package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/prometheus/procfs"
)

func TestSplit(t *testing.T) {
	const test = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {"
	for _, tt := range []struct {
		name, code, test string
		raced, plain     bool
		again            []string
	}{
		{"nothing at the same time", "package a\n\nimport \"sync\"\n\nvar once = sync.OnceValue(func() int { return 1 })\n", test + "}\n", false, true, nil},
		{"a go statement", "package a\n\nfunc f() { go f() }\n", test + "}\n", true, false, nil},
		{"a mutex", "package a\n\nimport \"sync\"\n\nvar mu sync.Mutex\n", test + "}\n", true, false, nil},
		{"an atomic", "package a\n\nimport \"sync/atomic\"\n\nvar n atomic.Int64\n", test + "}\n", true, false, nil},
		{"a goroutine in a test", "package a\n", test + " go t.Log() }\n", true, false, nil},
		{"a group in a test", "package a\n", test + " var g group; g.Go(t.FailNow) }\n", true, false, nil},
		{"parallel tests", "package a\n", test + " t.Parallel() }\n", true, false, nil},
		{"a test that does less in short", "package a\n\nfunc f() { go f() }\n", test + " if testing.Short() { t.Skip() } }\n", true, false, []string{"TestA"}},
		{"what tests use that does", "package a\n\nfunc f() { go f() }\n", test + "}\n\nfunc need() bool { return testing.Short() }\n", true, true, nil},
		{"the same of what is alone", "package a\n", test + " if testing.Short() { t.Skip() } }\n", false, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			is.NoErr(os.WriteFile(filepath.Join(dir, "a.go"), []byte(tt.code), 0o600))
			is.NoErr(os.WriteFile(filepath.Join(dir, "a_test.go"), []byte(tt.test), 0o600))
			p, err := split([]unit{{ImportPath: "fulmen/a", Dir: dir, GoFiles: []string{"a.go"}, TestGoFiles: []string{"a_test.go"}}})
			is.NoErr(err)
			is.Equal(len(p.raced) == 1, tt.raced)
			is.Equal(len(p.plain) == 1, tt.plain)
			is.Equal(p.tests, tt.again)
			is.Equal(len(p.again), len(tt.again))
			p, err = split([]unit{{ImportPath: "fulmen/daemon/e2e", Dir: dir, GoFiles: []string{"a.go"}, TestGoFiles: []string{"a_test.go"}}})
			is.NoErr(err)
			is.Equal(parted{plain: []string{"fulmen/daemon/e2e"}}, p) // once, in full, whatever it does
		})
	}
}

// Every package that has tests runs in one way or both, and what is largest runs
// first.
func TestEveryPackageIsTested(t *testing.T) {
	is := is.New(t)
	all, err := list()
	is.NoErr(err)
	p, err := split(all)
	is.NoErr(err)
	left, right := steps(p)
	tested := map[string]bool{}
	for _, s := range append(left, right...) {
		for _, p := range s.packages {
			tested[p] = true
		}
	}
	is.True(len(p.raced) > 20 && len(p.plain) > 20 && len(p.again) > 2)
	for _, u := range all {
		is.True(tested[u.ImportPath]) // it has tests
	}
	for _, name := range first {
		is.True(tested[name]) // it is still there
	}
	is.Equal(early([]string{"fulmen/a", first[1], "fulmen/b", first[0]}), []string{first[0], first[1], "fulmen/a", "fulmen/b"})
}

func TestFuzzTargets(t *testing.T) {
	is := is.New(t)
	all, err := list()
	is.NoErr(err)
	targets := map[string][]string{}
	for _, u := range all {
		s, err := look(u)
		is.NoErr(err)
		for _, name := range s.fuzz {
			is.True(strings.HasPrefix(name, "Fuzz"))
			targets[u.ImportPath] = append(targets[u.ImportPath], name)
		}
	}
	is.True(len(targets) > 30)
	is.Equal(targets["fulmen/cmd/internal/bundle/machofile"], []string{"FuzzParse"})
	is.Equal(targets["fulmen/cmd/internal/suite"], nil) // func FuzzXxx stands in its tests as a text
}

func TestReport(t *testing.T) {
	is := is.New(t)
	var out bytes.Buffer
	r := &report{out: &out, since: time.Now(), all: 3}
	is.NoErr(r.follow("plain", strings.NewReader(`{"Action":"start","Package":"fulmen/a"}
{"Action":"output","Package":"fulmen/a","Test":"TestWell","Output":"of no interest\n"}
{"Action":"output","Package":"fulmen/a","Test":"TestWell/part","Output":"of no interest\n"}
{"Action":"pass","Package":"fulmen/a","Test":"TestWell","Elapsed":1}
{"Action":"output","Package":"fulmen/b","Output":"of no interest\n"}
{"Action":"output","Package":"fulmen/a","Test":"TestIll","Output":"a_test.go:3: ill\n"}
{"Action":"fail","Package":"fulmen/a","Test":"TestIll","Elapsed":1}
{"Action":"output","Package":"fulmen/a","Output":"FAIL\n"}
{"Action":"fail","Package":"fulmen/a","Elapsed":2.5}
{"Action":"pass","Package":"fulmen/b","Elapsed":7}
`)))
	is.NoErr(r.follow("raced", strings.NewReader(`{"ImportPath":"fulmen/c","Action":"build-output","Output":"c.go:1: undefined: x\n"}
{"ImportPath":"fulmen/c","Action":"build-fail"}
{"Action":"fail","Package":"fulmen/c","Elapsed":0,"FailedBuild":"fulmen/c"}
go: no such tool
`)))
	r.slowest(cost{wall: 90 * time.Second, own: 2 * time.Minute, cores: 2})
	is.Equal(out.String(), `a_test.go:3: ill
FAIL
0:00  1 of 3  FAILED a, plain, 2.5 s
0:00  2 of 3  ok b, plain, 7.0 s
c.go:1: undefined: x
0:00  3 of 3  FAILED c, raced, 0.0 s
go: no such tool

The slowest packages:
      7.0 s  b, plain
      2.5 s  a, plain
      0.0 s  c, raced
FAILED: a, plain
  TestIll: a_test.go:3: ill
FAILED: c, raced
3 packages took 1:30 on two quiet cores (here 1:30; 2:00 of processor time, 0:00 of other programs).
`)
}

func TestCost(t *testing.T) {
	is := is.New(t)
	const m = time.Minute
	for _, tt := range []struct {
		what string
		cost cost
		want time.Duration
	}{
		{"alone", cost{wall: 13 * m, own: 24 * m, cores: 2}, 13 * m},
		{"beside others", cost{wall: 20 * m, own: 24 * m, others: 15 * m, cores: 2}, 12*m + m/2},
		{"on more cores", cost{wall: 4 * m, own: 28 * m, others: m, cores: 16}, 14 * m},
	} {
		is.Equal(tt.cost.quiet(), tt.want) // as tt.what
		is.NoErr(tt.cost.within(14 * m))
		is.True(tt.cost.within(12*m) != nil)
	}
	for text, want := range map[string]time.Duration{"cpu  100 2 30 5000 600 7 8 9 50 0\ncpu0 1 1 1 1\n": 1560 * time.Millisecond, "cpu  x\n": 0} {
		folder := t.TempDir()
		is.NoErr(os.WriteFile(filepath.Join(folder, "stat"), []byte(text), 0o600))
		system, err := procfs.NewFS(folder)
		is.NoErr(err)
		is.Equal(busy(system), want)
	}
	before := now()
	is.True(since(before).wall > 0)
}

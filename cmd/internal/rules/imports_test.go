package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// graph makes packages from lines "package: import import"; every import stands
// at line 1 of a file named after the package.
func graph(text string) map[string]*goPackage {
	all := map[string]*goPackage{}
	for l := range strings.Lines(text) {
		name, imports, ok := strings.Cut(strings.TrimSpace(l), ":")
		if !ok {
			continue
		}
		p := &goPackage{ImportPath: name, Imports: strings.Fields(imports), Standard: standardLooking(name), at: map[string]Problem{}}
		for _, imp := range p.Imports {
			p.at[imp] = Problem{File: name + "/x.go", Line: 1}
		}
		all[name] = p
	}
	return all
}

func TestLayers(t *testing.T) {
	tests := []struct {
		name  string
		graph string
		want  []string // beginnings of what is reported, in order
	}{
		{"the worker binds MLX", `
			fulmen/cmd/fulmen-rank: fulmen/mlxbridge fulmen/daemon/api/worker
			fulmen/cmd/internal/bench: fulmen/mlxbridge
			fulmen/mlxbridge: C unsafe os
			fulmen/mlxbridge/dtype: fulmen/mlxbridge`, nil},
		{"the daemon does not, at any distance", `
			fulmen/cmd/fulmend: fulmen/daemon
			fulmen/daemon: fulmen/daemon/internal/profile
			fulmen/daemon/internal/profile: fulmen/mlxbridge/dtype
			fulmen/mlxbridge/dtype: fulmen/mlxbridge`, []string{
			"fulmen/cmd/fulmend depends on fulmen/mlxbridge/dtype by way of fulmen/daemon, fulmen/daemon/internal/profile",
			"fulmen/daemon depends on fulmen/mlxbridge/dtype by way of fulmen/daemon/internal/profile",
			"fulmen/daemon/internal/profile imports fulmen/mlxbridge/dtype",
		}},
		{"a name that only begins alike is another package", `
			fulmen/cmd/fulmen-ranking: fulmen/mlxbridge`, []string{"fulmen/cmd/fulmen-ranking imports fulmen/mlxbridge"}},
		{"the contract needs the standard library only", `
			fulmen/daemon/api: encoding/json
			fulmen/daemon/api/worker: fulmen/daemon/api github.com/x/y fulmen/native C
			encoding/json: reflect`, []string{
			"fulmen/daemon/api/worker imports github.com/x/y",
			"fulmen/daemon/api/worker imports fulmen/native",
			"fulmen/daemon/api/worker imports C",
		}},
		{"platforms and the binding know nobody", `
			fulmen/native/linux: fulmen/native fulmen/daemon/api
			fulmen/native: os
			fulmen/mlxbridge: fulmen/daemon/api
			fulmen/daemon/api: fmt`, []string{
			"fulmen/native/linux imports fulmen/daemon/api",
			"fulmen/mlxbridge imports fulmen/daemon/api",
		}},
		{"clients use the public API", `
			fulmen/cmd/fulmen: fulmen/daemon/api fulmen/daemon/client fulmen/daemon
			fulmen/app/mac: github.com/progrium/darwinkit/macos fulmen/native
			fulmen/daemon/client: fulmen/daemon/api
			fulmen/daemon/api: fmt`, []string{
			"fulmen/app/mac imports fulmen/native",
			"fulmen/cmd/fulmen imports fulmen/daemon",
		}},
		{"owners do not know each other", `
			fulmen/daemon/internal/job: fulmen/daemon/internal/grant/lease fulmen/daemon/internal/job/log fulmen/daemon/internal/ledger
			fulmen/daemon/internal/rank: fulmen/daemon/internal/server`, []string{
			"fulmen/daemon/internal/rank imports fulmen/daemon/internal/server",
			"fulmen/daemon/internal/job imports fulmen/daemon/internal/grant/lease",
		}},
		{"not even by way of a part", `
			fulmen/daemon/internal/job: fulmen/daemon/internal/ledger
			fulmen/daemon/internal/ledger: fulmen/daemon/internal/rdma`, []string{
			"fulmen/daemon/internal/ledger imports fulmen/daemon/internal/rdma",
			"fulmen/daemon/internal/job depends on fulmen/daemon/internal/rdma by way of fulmen/daemon/internal/ledger",
		}},
		{"pure packages do no I/O themselves", `
			fulmen/app: fmt net/netip fulmen/daemon/api
			fulmen/app/tray: os fyne.io/systray
			fulmen/daemon/internal/placement: os/exec net/http fulmen/daemon/internal/topology fulmen/daemon/internal/ledger
			fmt: os`, []string{
			"fulmen/daemon/internal/placement imports fulmen/daemon/internal/ledger",
			"fulmen/daemon/internal/placement imports os/exec",
			"fulmen/daemon/internal/placement imports net/http",
		}},
		{"toolkits have one place", `
			fulmen/cmd/fulmen-app: fyne.io/systray fulmen/app/tray
			fulmen/app/tray: fyne.io/systray
			fulmen/native/darwin: github.com/progrium/darwinkit/objc
			fulmen/native/darwin/objc: github.com/progrium/darwinkit/objc`, []string{
			"fulmen/cmd/fulmen-app imports fyne.io/systray",
			"fulmen/native/darwin imports github.com/progrium/darwinkit/objc",
		}},
		{"tools are not shipped", `
			fulmen/cmd/internal/suite: fulmen/cmd/internal/rules
			fulmen/cmd/fulmen: fulmen/cmd/internal/rules`, []string{"fulmen/cmd/fulmen imports fulmen/cmd/internal/rules"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			problems := brokenLayers(layers(), graph(tt.graph))
			var got []string
			for _, p := range problems {
				is.True(strings.HasSuffix(p.File, "/x.go") && p.Line == 1) // at the import statement
				text, _, _ := strings.Cut(p.What, ", which it must not")
				got = append(got, text)
			}
			is.Equal(got, tt.want)
		})
	}
}

func TestEveryPartOfTheDaemonHasItsPlace(t *testing.T) {
	is := is.New(t)
	is.Equal(len(unplaced(graph("fulmen/daemon/internal/job/phase: fmt\nfulmen/daemon/internal/ledger: fmt"))), 0)
	is.Equal(places(unplaced(graph("fulmen/daemon/internal/misc/deep: fmt"))), []string{"daemon/internal/misc:0"})
	for _, o := range owners {
		is.True(!slices.Contains(parts, o)) // an owner is not a part as well
	}
}

// TestTheListedGraphIsReal guards against a check that passes because it saw
// nothing.
func TestTheListedGraphIsReal(t *testing.T) {
	is := is.New(t)
	tree, err := FindTree()
	is.NoErr(err)
	packages, err := tree.build(platform{goos: "darwin", goarch: "arm64"})
	is.NoErr(err)
	p := packages["fulmen/cmd/internal/rules"]
	is.True(p != nil)
	is.Equal(p.at["go/format"].File, "cmd/internal/rules/format.go")
	is.True(packages["go/format"].Standard)
	caught := layer{from: []string{"fulmen/cmd/internal/suite"}, never: []string{"go/format"}}
	problems := brokenLayers([]layer{caught}, packages)
	is.Equal(places(problems), []string{"cmd/internal/suite/packages.go:17"})
}

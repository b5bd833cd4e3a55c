package rules

import (
	"go/ast"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// fuzzed are the folders whose packages read bytes or shapes from outside, and
// have at least one fuzz target each once they hold Go code.
var fuzzed = []string{
	"daemon/api", "daemon/api/worker", "daemon/internal/audit", "daemon/internal/cluster", "daemon/internal/config", "daemon/internal/gate",
	"daemon/internal/rank/shim", "daemon/internal/rank/shimproto", "daemon/internal/server", "daemon/internal/store",
	"native", "native/activation", "native/darwin", "native/linux", "native/nativetest", "native/networksetup", "native/plist", "native/procsockets", "native/recording", "native/sim/scenario", "native/systemprofiler", "native/tomltext",
	"daemon/internal/cluster/cpace", "daemon/internal/cluster/pairing", "daemon/internal/cluster/transport", "daemon/internal/cluster/replica",
	"daemon/internal/cluster/discover", "daemon/internal/topology", "daemon/internal/topology/readiness", "mlxbridge",
	"daemon/internal/job", "daemon/internal/peer/rankio", "daemon/internal/rank/prepare/look", "daemon/internal/rank/files/ignore",
	"daemon/internal/rank/files/wire", "daemon/internal/rank/files/unpack", "daemon/internal/relay", "daemon/internal/relay/sidechannel", "daemon/internal/rdma", "daemon/internal/profile/rdmaprobe", "cmd/fulmen/internal/jobfile", "cmd/internal/bundle/machofile", "app/deeplink",
}

// FuzzTarget is one fuzz function that builds on this machine.
type FuzzTarget struct {
	// Package is its import path.
	Package string
	// Name is the function's name, FuzzXxx.
	Name string
}

// FuzzTargets lists the fuzz targets of the module that build on this machine,
// ordered by package and name.
func (t *Tree) FuzzTargets() ([]FuzzTarget, error) {
	packages, err := list(t.root, nil, "./...")
	if err != nil {
		return nil, err
	}
	builds := map[string]string{}
	for _, p := range packages {
		for _, base := range append(p.TestGoFiles, p.XTestGoFiles...) {
			name, err := filepath.Rel(t.root, filepath.Join(p.Dir, base))
			if err != nil {
				return nil, err
			}
			builds[filepath.ToSlash(name)] = p.ImportPath
		}
	}
	byFile, err := t.fuzzFunctions()
	if err != nil {
		return nil, err
	}
	var out []FuzzTarget
	for name, functions := range byFile {
		for _, f := range functions {
			if builds[name] != "" {
				out = append(out, FuzzTarget{builds[name], f})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Package != out[j].Package {
			return out[i].Package < out[j].Package
		}
		return out[i].Name < out[j].Name
	})
	return out, nil
}

// fuzzFunctions gives the fuzz functions of every test file, by file.
func (t *Tree) fuzzFunctions() (map[string][]string, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, s := range all {
		if !s.isTest() {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && isFuzz(f) {
				out[s.name] = append(out[s.name], f.Name.Name)
			}
		}
	}
	return out, nil
}

// isFuzz reports whether f is declared as func FuzzXxx(f *testing.F).
func isFuzz(f *ast.FuncDecl) bool {
	if f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") || f.Type.Params.NumFields() != 1 {
		return false
	}
	star, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "F"
}

// checkFuzz wants a fuzz target in every package of the table that exists.
func checkFuzz(t *Tree) ([]Problem, error) {
	byFile, err := t.fuzzFunctions()
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for name := range byFile {
		has[path.Dir(name)] = true
	}
	var out []Problem
	for _, dir := range fuzzed {
		if t.hasGo(dir) && !has[dir] {
			out = append(out, Problem{
				File: dir, What: "reads what others wrote and has no fuzz target",
				Remedy: "add FuzzXxx(f *testing.F) to its tests: an error is fine, a panic is not",
			})
		}
	}
	return out, nil
}

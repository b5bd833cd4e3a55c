package rules

import (
	"go/ast"
	"path"
	"slices"
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
	"daemon/internal/job", "daemon/internal/peer", "daemon/internal/rank/prepare/look", "daemon/internal/rank/files/ignore",
	"daemon/internal/rank/files/wire", "daemon/internal/rank/files/unpack", "daemon/internal/model/inventory", "daemon/internal/model/transfer", "daemon/internal/relay", "daemon/internal/relay/sidechannel", "daemon/internal/rdma", "daemon/internal/profile/rdmaprobe", "daemon/jobfile", "cmd/internal/bundle/machofile", "app/deeplink",
}

// checkFuzz wants a fuzz target in every package of the table that exists.
func checkFuzz(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, s := range all {
		if s.isTest() && slices.ContainsFunc(s.file.Decls, isFuzz) {
			has[path.Dir(s.name)] = true
		}
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

// isFuzz reports whether d is a func FuzzXxx(f *testing.F).
func isFuzz(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") || f.Type.Params.NumFields() != 1 {
		return false
	}
	star, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "F"
}

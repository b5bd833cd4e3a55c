package rules

import (
	"go/ast"
	"path"
)

// layer is one rule about the imports of some packages. Patterns are import
// paths; a pattern that ends in /... also covers what lies below. The words std
// and external stand for the standard library and for other modules.
//
// A layer speaks of packages that may not exist yet, so that the first import of
// a new package is already checked.
type layer struct {
	from   []string // the packages the rule is about
	except []string // but not these
	never  []string // they depend on none of these
	only   []string // of what never does not settle, they import these alone; empty: anything
	but    []string // allowed, though never covers it
	direct bool     // look at their own imports only, not at what those need in turn
	reason string
}

// owners are the packages that write facts. None of them knows another.
var owners = []string{"cluster", "facts", "grant", "health", "job", "profile", "rank", "rdma", "relay"}

// parts are the packages of the daemon that own no fact. Every folder of
// daemon/internal is an owner or a part, so that a new one takes its place here.
var parts = []string{"audit", "config", "doctor", "endpoint", "event", "gate", "home", "ledger", "lifecycle", "logs", "methods", "metrics", "model", "peer", "placement", "proc", "server", "simulate", "stall", "storage", "store", "topology", "uninstall", "view"}

// helpers serve everybody. They lie in native because native needs them too, and
// know no platform.
var helpers = []string{"fulmen/native/nearest", "fulmen/native/tomltext", "fulmen/native/waker"}

// pure are the packages that hold rules and nothing else: no I/O, no clock, no
// chance. A test of the same state gives the same answer on every machine.
var pure = []string{
	"fulmen/app", // the menu model; what draws it lies in the folders below
	"fulmen/daemon/internal/topology/...",
	"fulmen/daemon/internal/placement/...",
	"fulmen/daemon/internal/event/...",
	"fulmen/daemon/internal/job/phase/...",
	"fulmen/daemon/internal/job/links/...",
	"fulmen/daemon/internal/rdma/change/...",
}

// clockless are the packages that do nothing but compute: the pure ones, and the
// contract, which may draw a random id. They take the time as an argument.
var clockless = append([]string{"fulmen/daemon/api/...", "fulmen/daemon/internal/stall"}, pure...)

// doing are the packages of the standard library that read or change what is
// outside the program. Of net, addresses are plain values.
var doing = []string{
	"os/...", "io/ioutil", "net/...", "syscall/...", "unsafe", "C", "log/...",
	"database/sql/...", "golang.org/x/sys/...",
}

// ownersPath gives the import patterns of every owner, without those of skip.
func ownersPath(skip string) []string {
	var all []string
	for _, o := range owners {
		if o != skip {
			all = append(all, "fulmen/daemon/internal/"+o+"/...")
		}
	}
	return all
}

// layers is the table of import directions: cmd -> app | daemon -> server ->
// owners -> ledger, store, topology, placement -> api, with native and mlxbridge
// beside them.
func layers() []layer {
	clients := []string{"fulmen/cmd/fulmen/...", "fulmen/cmd/fulmen-app/...", "fulmen/app/..."}
	public := []string{"fulmen/daemon/api/...", "fulmen/daemon/client/...", "fulmen/daemon/jobfile/..."}
	table := []layer{
		{
			from:   []string{"fulmen/..."},
			except: []string{"fulmen/mlxbridge/...", "fulmen/cmd/fulmen-rank/...", "fulmen/cmd/internal/bench/..."},
			never:  []string{"fulmen/mlxbridge/..."},
			reason: "a hang or abort inside MLX may end the worker and nothing else",
		}, {
			from:   []string{"fulmen/daemon/api/..."},
			only:   []string{"std", "fulmen/daemon/api/..."},
			never:  []string{"external"},
			reason: "the contract is the bottom of everything, and its schema is made from it alone",
		}, {
			from:   []string{"fulmen/native/..."},
			never:  []string{"fulmen/daemon/...", "fulmen/app/...", "fulmen/mlxbridge/...", "fulmen/cmd/..."},
			reason: "a platform tells and does; it knows nothing of who asks",
		}, {
			from:   helpers,
			only:   []string{"std", "external"},
			never:  doing,
			direct: true,
			reason: "what serves everybody knows nobody, and does no I/O",
		}, {
			from:   []string{"fulmen/mlxbridge/..."},
			never:  []string{"fulmen/daemon/...", "fulmen/app/...", "fulmen/native/...", "fulmen/cmd/..."},
			reason: "the binding is of use without Fulmen",
		}, {
			from:   clients,
			never:  []string{"fulmen/daemon/...", "fulmen/native/..."},
			but:    append(public, helpers...),
			reason: "clients are clients: a script with the public API can do all they can",
		}, {
			from:   []string{"fulmen/daemon/client/..."},
			never:  []string{"fulmen/daemon/...", "fulmen/native/...", "fulmen/app/...", "fulmen/cmd/..."},
			but:    public,
			reason: "whatever the client needs, every client gets",
		}, {
			from:   []string{"fulmen/daemon/..."},
			never:  []string{"fulmen/app/...", "fulmen/cmd/..."},
			reason: "the daemon runs without a screen",
		}, {
			from:   []string{"fulmen/app/..."},
			never:  []string{"fulmen/cmd/..."},
			reason: "commands put parts together; no part needs a command",
		}, {
			from:   []string{"fulmen/daemon/internal/..."},
			never:  []string{"fulmen/daemon", "fulmen/daemon/client/..."},
			reason: "the parts are put together above them, and are no clients of themselves",
		}, {
			from:  []string{"fulmen/daemon/shim/..."},
			never: []string{"fulmen/daemon/..."},
			but: []string{
				"fulmen/daemon/api/...", "fulmen/daemon/internal/rank/shim", "fulmen/daemon/internal/rank/shimproto",
				"fulmen/daemon/internal/rank/prepare/look", "fulmen/daemon/internal/rank/prepare/account",
			},
			reason: "whatever it needs every rank pays for",
		}, {
			from:   ownersPath(""),
			never:  []string{"fulmen/daemon/internal/server/..."},
			reason: "the server calls the owners",
		}, {
			from: []string{"fulmen/daemon/internal/ledger/...", "fulmen/daemon/internal/store/...", "fulmen/daemon/internal/config/...", "fulmen/daemon/internal/home/..."},
			never: append(ownersPath(""), "fulmen/daemon/internal/server/...",
				"fulmen/daemon/internal/topology/...", "fulmen/daemon/internal/placement/..."),
			reason: "what keeps facts does not know what they mean",
		}, {
			from:   pure,
			only:   []string{"std", "external", "fulmen/daemon/api/...", "fulmen/daemon/internal/topology/...", "fulmen/app/text"},
			reason: "what decides takes plain values, so that a table of values tests it",
		}, {
			from:   clockless,
			never:  doing,
			but:    []string{"net/netip"},
			direct: true,
			reason: "what decides or describes does no I/O, so that a table of values tests it",
		}, {
			from:   pure,
			never:  []string{"math/rand/...", "crypto/rand"},
			direct: true,
			reason: "the same state gives the same answer on every node",
		}, {
			from:   []string{"fulmen/..."},
			except: []string{"fulmen/app/tray/..."},
			never:  []string{"fyne.io/systray/..."},
			direct: true,
			reason: "one package draws the menu",
		}, {
			from:   []string{"fulmen/..."},
			except: []string{"fulmen/app/mac/...", "fulmen/native/darwin/objc/..."},
			never:  []string{"github.com/progrium/darwinkit/..."},
			direct: true,
			reason: "Objective-C is called from two packages only, and from none that must build without it",
		}, {
			from:   []string{"fulmen/..."},
			except: []string{"fulmen/cmd/internal/..."},
			never:  []string{"fulmen/cmd/internal/..."},
			reason: "build and check tools are no part of what is shipped",
		},
	}
	for _, o := range owners {
		table = append(table, layer{
			from:   []string{"fulmen/daemon/internal/" + o + "/..."},
			never:  ownersPath(o),
			reason: "owners of facts take readers and small interfaces from daemon.Run, never each other",
		})
	}
	return table
}

// clockFunctions are the functions of the package time that look at a clock or
// wait for one. The rest of it is arithmetic.
var clockFunctions = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true,
	"Tick": true, "NewTimer": true, "NewTicker": true,
}

// checkPure refuses the use of a clock in packages that only compute; what they import is
// checked with the layers.
func checkPure(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, s := range all {
		p := &goPackage{ImportPath: path.Join(module, path.Dir(s.name))}
		if s.isTest() || !matches(clockless, p) {
			continue
		}
		s.uses("time", clockFunctions, func(sel *ast.SelectorExpr) {
			out = append(out, Problem{
				File: s.name, Line: s.line(sel.Pos()), What: "time." + sel.Sel.Name + " in " + p.ImportPath + ", which only computes and takes no clock",
				Remedy: "take the time as an argument",
			})
		})
	}
	return out, nil
}

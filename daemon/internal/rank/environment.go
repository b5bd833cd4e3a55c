package rank

import (
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

// joint is how a rank's program finds the others of its group: by a ring's host
// file, or by JACCL's matrix of devices and its side channel.
type joint struct {
	hosts       string
	devices     string
	coordinator string
	ring        bool // JACCL is to make a ring of what may be a mesh too
}

// environment is the program's: what was resolved, without what a launcher
// sets, and with this rank's own.
func environment(resolved []string, w wanted, by joint) []string {
	env := make([]string, 0, len(resolved)+8)
	for _, pair := range resolved {
		if name, _, _ := strings.Cut(pair, "="); !launchers(name) {
			env = append(env, pair)
		}
	}
	hasTerminal := w.spec.Program.Terminal && w.ref.Rank == 0
	if hasTerminal && !slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "TERM=") }) {
		env = append(env, "TERM=xterm-256color")
	}
	number := strconv.Itoa(w.ref.Rank)
	env = append(env,
		api.EnvJob+"="+string(w.ref.Job), api.EnvRank+"="+number, api.EnvWorldSize+"="+strconv.Itoa(len(w.plan.Ranks)),
		api.EnvMLXRank+"="+number,
	)
	for _, set := range []struct {
		name, value string
	}{{api.EnvMLXHostfile, by.hosts}, {api.EnvMLXDevices, by.devices}, {api.EnvMLXCoordinator, by.coordinator}} {
		if set.value != "" {
			env = append(env, set.name+"="+set.value)
		}
	}
	if by.ring { // any value means a ring, so it is set only where one is meant
		env = append(env, api.EnvMLXRing+"=1")
	}
	return env
}

// launchers reports whether a variable is one that a launcher of ranks sets: one
// that was inherited would join the program to another group.
func launchers(name string) bool {
	switch name {
	case api.EnvJob, api.EnvRank, api.EnvWorldSize, api.EnvMLXRank, api.EnvMLXHostfile, api.EnvMLXDevices:
		return true
	}
	return strings.HasPrefix(name, api.EnvJACCLPrefix) || strings.HasPrefix(name, jacclOfMLX)
}

// jacclOfMLX begins MLX's own names of JACCL's variables.
const jacclOfMLX = "MLX_JACCL"

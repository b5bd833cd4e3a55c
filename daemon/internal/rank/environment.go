package rank

import (
	"slices"
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

// environment is the program's: what was resolved, without what a launcher
// sets, and with this rank's own.
func environment(resolved []string, w wanted, hosts string) []string {
	env := make([]string, 0, len(resolved)+5)
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
	if hosts != "" {
		env = append(env, api.EnvMLXHostfile+"="+hosts)
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

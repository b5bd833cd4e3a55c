package facts

import (
	"cmp"
	"runtime"

	"fulmen/daemon/api"
)

// Static is what the platform cannot know of this node: what Fulmen itself
// adds to the identity document.
type Static struct {
	PublicKey     []byte
	FulmenVersion string
	Protocol      int
	StartedAt     api.Time
	// Platform is the machine's family of systems; empty is that of this program.
	Platform api.Platform
	// FriendlyName is what a person called the node instead of the computer's
	// name; empty where nobody did.
	FriendlyName string
	// ShortName makes the short name of a computer name.
	ShortName func(name string) string
	// Probes counts the tests that opened the RDMA device of a receptacle since the
	// system started, which has the id; nil where nobody counts.
	Probes func(bootID string, receptacle api.Receptacle) int
	// Ours reports whether Fulmen made the network service that has an identifier; nil
	// where it makes none.
	Ours func(service string) bool
	// MLX is what the worker found; nil until it has answered, and then
	// NoMLX is why, if it could not.
	MLX   *MLX
	NoMLX api.Reason
}

// noMLX is why MLX is not known.
func (s Static) noMLX() api.Reason { return cmp.Or(s.NoMLX, api.ReasonNotYetRead) }

// claim marks the services of a network that Fulmen made.
func (s Static) claim(n api.Network) {
	for _, i := range n.Interfaces {
		if i.Service != nil && s.Ours != nil {
			i.Service.Ours = s.Ours(i.Service.ID)
		}
	}
}

func (s Static) platform() api.Platform {
	if s.Platform != "" {
		return s.Platform
	}
	return api.Platform(runtime.GOOS)
}

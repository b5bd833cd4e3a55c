package facts

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

// A network service that Fulmen made says so, and nobody else's does, whatever it is
// called.
func TestServicesThatAreOurs(t *testing.T) {
	is := is.New(t)
	all := native.Snapshot{Network: &native.Network{
		Interfaces: []native.Interface{{Name: "en1"}, {Name: "en2"}, {Name: "en3"}},
		Services: []native.NetworkService{
			{ID: "A", Name: "Thunderbolt 1", Interface: "en1", Enabled: true},
			{ID: "B", Name: "Thunderbolt 1", Interface: "en2", Enabled: true},
		},
	}}
	ours := func(static Static) []bool {
		var out []bool
		for _, f := range Convert(all, static) {
			if n, is := f.Value.(api.Network); is {
				for _, i := range n.Interfaces {
					out = append(out, i.Service != nil && i.Service.Ours)
				}
			}
		}
		return out
	}
	name := func(s string) string { return s }
	is.Equal(ours(Static{ShortName: name, Ours: func(id string) bool { return id == "B" }}), []bool{false, true, false})
	is.Equal(ours(Static{ShortName: name}), []bool{false, false, false})
}

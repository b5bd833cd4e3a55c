package liveness

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestNames(t *testing.T) {
	type who struct{ name, published string }
	members := []api.Member{{Node: studio}, {Node: mini}, {Node: book}, {Node: another}}
	long := strings.Repeat("x", 70)
	for name, test := range map[string]struct {
		who     map[api.NodeID]who
		removed []int
		want    []string
	}{
		"different": {map[api.NodeID]who{studio: {"Studio", ""}, mini: {"Mini", ""}, book: {"Book", ""}, another: {"Änother", ""}}, nil,
			[]string{"studio", "mini", "book", "another"}},
		"all the same": {map[api.NodeID]who{studio: {"Mac", "mac-9"}, mini: {"Mac", ""}, book: {"mac", ""}, another: {"MAC", ""}}, nil,
			[]string{"mac", "mac-2", "mac-3", "mac-4"}},
		"a name that looks like a number": {map[api.NodeID]who{studio: {"Mac", ""}, mini: {"Mac 2", ""}, book: {"Mac", ""}, another: {"Mac-2", ""}}, nil,
			[]string{"mac", "mac-2", "mac-3", "mac-2-2"}},
		"whoever was removed gives the name back": {map[api.NodeID]who{studio: {"Mac", ""}, mini: {"Mac", ""}, book: {"Mac", ""}, another: {"Mac", ""}}, []int{0, 1},
			[]string{"mac-3", "mac-4", "mac", "mac-2"}},
		"not heard of": {map[api.NodeID]who{mini: {"Mac", "mac"}}, nil,
			[]string{"mac-j79r", "mac", "mac-cpv0", "mac-wf0v"}},
		"the first of a name not heard of": {map[api.NodeID]who{mini: {"Mac", "mac-2"}, book: {"Mac", "mac-3"}, another: {"Mac", "mac"}}, nil,
			[]string{"mac-j79r", "mac-2", "mac-3", "mac"}},
		"published names that are none": {map[api.NodeID]who{mini: {"Mac", "root"}, book: {"Book", "mac-2"}, another: {"Mac", "mac-x"}}, nil,
			[]string{"mac-j79r", "mac", "book", "mac-2"}},
		"removed and not heard of": {map[api.NodeID]who{mini: {"Mac", "mac-2"}, book: {"Mac", "mac-3"}, another: {"Mac", "mac-4"}}, []int{0},
			[]string{"mac-j79r", "mac", "mac-2", "mac-3"}},
		"as long as can be": {map[api.NodeID]who{studio: {long, ""}, mini: {long, ""}, book: {"B", ""}}, nil,
			[]string{long[:63], long[:61] + "-2", "b", "mac-wf0v"}},
		"as long as can be, published": {map[api.NodeID]who{mini: {long, long[:61] + "-2"}, book: {long, long[:61] + "-x"}}, nil,
			[]string{"mac-j79r", long[:61] + "-2", long[:63], "mac-wf0v"}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			roster := append([]api.Member{}, members...)
			for _, i := range test.removed {
				roster[i].RemovedBy = box
			}
			names := Names(roster, func(n api.NodeID) (api.Identity, bool) {
				w, known := test.who[n]
				return api.Identity{Name: w.name, ShortName: w.published}, known
			})
			var got []string
			for _, m := range roster {
				got = append(got, names[m.Node])
			}
			is.Equal(got, test.want)
		})
	}
}

func TestFind(t *testing.T) {
	in := scenario()
	in.Members[1].RemovedBy, in.Members[1].RemovedAt = book, at(50) // mac-mini-2 by now
	v := Derive(in)
	for ref, want := range map[api.NodeRef]string{
		"": string(studio), "mac-studio": string(studio), "MAC-Studio": string(studio), "mac-mini": string(another), "mac-mini-2": string(mini),
		"adas": string(book), "mac-s": string(studio), "mac": "ambiguous_name", "cpv0-cwyp-xp44-qw0p": string(book), "CPVO": string(book), "cpv0-c": string(book),
		"z96r": string(mini), "z": string(mini), "nobody": "no_such_node", "-": "no_such_node", "mac-mini-3": "no_such_node",
	} {
		t.Run(string(ref), func(t *testing.T) {
			is := is.New(t)
			got, err := v.Find(ref)
			if err != nil {
				got = api.NodeID(api.AsError(err).Data.Reason)
			}
			is.Equal(string(got), want)
		})
	}
	is.New(t).Equal(v.Name("vc3m7rpwqafby900"), "vc3m-7rpw-qafb-y900")
}

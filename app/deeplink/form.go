package deeplink

import (
	"net/url"

	"fulmen/daemon/api"
)

// form reads the values of an address; what is wrong first is kept.
type form struct {
	values url.Values
	read   map[string]bool
	err    error
}

// isUnknown reports whether there is a value that nobody has read.
func (f *form) isUnknown() bool {
	for name := range f.values {
		if !f.read[name] {
			return true
		}
	}
	return false
}

func (f *form) fail(why string) {
	if f.err == nil {
		f.err = refuse(why)
	}
}

// all are the values of a name, none of them twice.
func (f *form) all(name string) []string {
	f.read[name] = true
	given := f.values[name]
	if len(given) > MaxNames {
		f.fail("It has too many values.")
		return nil
	}
	seen := map[string]bool{}
	for _, v := range given {
		if seen[v] {
			f.fail("It names the same thing twice.")
		}
		seen[v] = true
	}
	return given
}

// one is the value of a name; empty where there is none.
func (f *form) one(name string) string {
	switch given := f.all(name); len(given) {
	case 0:
		return ""
	case 1:
		if given[0] == "" {
			f.fail("It has an empty value.")
		}
		return given[0]
	}
	f.fail("It names the same thing twice.")
	return ""
}

// choice is a value that is yes or no; nil where there is none.
func (f *form) choice(name string) *bool {
	yes := false
	switch f.one(name) {
	case "true":
		yes = true
	case "false":
	case "":
		return nil
	default:
		f.fail("It has a value that is not known.")
	}
	return &yes
}

// change is about cables: some, or all.
func (f *form) change() api.RDMAChangeParams {
	var p api.RDMAChangeParams
	for _, text := range f.all("links") {
		var id api.LinkID
		if id.UnmarshalText([]byte(text)) != nil {
			f.fail("It does not name a cable correctly.")
		}
		p.Links = append(p.Links, api.LinkRef(text))
	}
	if all := f.choice("all_ready"); all != nil {
		p.AllReady = *all
	}
	if p.AllReady == (len(p.Links) > 0) {
		f.fail("It must name cables, or all of them.")
	}
	return p
}

// node reads a Mac's id.
func (f *form) node(text string) api.NodeID {
	var id api.NodeID
	if id.UnmarshalText([]byte(text)) != nil {
		f.fail("It does not name a Mac correctly.")
	}
	return id
}

// answer is about a Mac that asks. The code is never in an address: the person
// types it.
func (f *form) answer() api.ClusterAnswerParams {
	p := api.ClusterAnswerParams{Node: f.node(f.one("node"))}
	switch state := api.PendingState(f.one("state")); state {
	case "", api.PendingIgnored, api.PendingLater, api.PendingAsking:
		p.State = state
	default:
		f.fail("It has a value that is not known.")
	}
	return p
}

func (f *form) removal() api.ClusterRemoveParams {
	var p api.ClusterRemoveParams
	for _, text := range f.all("nodes") {
		p.Nodes = append(p.Nodes, api.NodeRef(f.node(text)))
	}
	if len(p.Nodes) == 0 {
		f.fail("It names no Mac.")
	}
	return p
}

// sharing is what this Mac lends, without whom by name and how much: that is
// changed where it is seen as a whole.
func (f *form) sharing() api.ClusterSetSharingParams {
	p := api.ClusterSetSharingParams{OnlyOnPower: f.choice("only_on_power"), OnlyWhenIdle: f.choice("only_when_idle"), KeepAwake: f.choice("keep_awake")}
	switch jobs := api.JobSharing(f.one("jobs")); jobs {
	case "", api.JobsNobody, api.JobsMapped:
		p.Jobs = jobs
	default:
		f.fail("It has a value that is not known.")
	}
	if p.Jobs == "" && p.OnlyOnPower == nil && p.OnlyWhenIdle == nil && p.KeepAwake == nil {
		f.fail("It changes nothing.")
	}
	return p
}

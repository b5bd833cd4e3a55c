package topology

import (
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// FindCable finds the cable that a person means: both its ends, or one that no
// other cable has.
func FindCable(cables []api.Cable, ref api.LinkRef, node func(api.NodeRef) (api.NodeID, error)) (api.Cable, error) {
	wanted, err := FindEnds(ref, node)
	if err != nil {
		return api.Cable{}, err
	}
	var found []api.Cable
	for _, cable := range cables {
		if len(wanted) <= 2 && hasEnd(cable, wanted[0]) && hasEnd(cable, wanted[len(wanted)-1]) {
			found = append(found, cable)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return api.Cable{}, api.Errorf(api.ReasonNoSuchLink, string(ref), "There is no cable %q.", string(ref))
	}
	return api.Cable{}, api.Errorf(api.ReasonAmbiguousName, string(ref), "%q has %d cables, through a hub; name both ends, as NODE:1~NODE:3", string(ref), len(found))
}

// FindEnds reads the ends of a cable as people write them: one, or several with ~ in between.
func FindEnds(ref api.LinkRef, node func(api.NodeRef) (api.NodeID, error)) ([]api.LinkEnd, error) {
	return FindAll(strings.Split(string(ref), "~"), func(part string) (api.LinkEnd, error) { return findEnd(part, node) })
}

// FindAll finds what each of some references means.
func FindAll[R, V any](refs []R, find func(R) (V, error)) ([]V, error) {
	var all []V
	for _, ref := range refs {
		one, err := find(ref)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// findEnd reads an end of a cable as people write it, such as mac-studio:1.
func findEnd(text string, node func(api.NodeRef) (api.NodeID, error)) (api.LinkEnd, error) {
	name, number, found := strings.Cut(text, ":")
	if !found || name == "" {
		return api.LinkEnd{}, api.Errorf(api.ReasonMalformedID, text, "%q is not the end of a cable; write it as NODE:PORT, such as mac-studio:1", text)
	}
	portNumber, err := api.ParsePortNumber(number)
	if err != nil {
		return api.LinkEnd{}, err
	}
	id, err := node(api.NodeRef(name))
	return api.LinkEnd{Node: id, PortNumber: portNumber}, err
}

// hasEnd reports whether a cable has an end.
func hasEnd(cable api.Cable, end api.LinkEnd) bool {
	return slices.ContainsFunc(cable.Ends, func(one api.CableEnd) bool { return one.End == end })
}

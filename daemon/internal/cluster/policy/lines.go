package policy

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// compareLines orders the map: people by node and name, then nodes, then the
// line of all members. Two lines of the same people are equal.
func compareLines(a, b api.MappedUser) int {
	return cmp.Or(cmp.Compare(width(a), width(b)), a.Principal.Compare(b.Principal), cmp.Compare(a.Node, b.Node))
}

// width says how closely a line says who is meant, the closest first.
func width(line api.MappedUser) int {
	switch {
	case line.Members:
		return 2
	case line.Node != "":
		return 1
	}
	return 0
}

// checkLine wants a line of somebody, with an account or the word that there is
// none.
func checkLine(line api.MappedUser) error {
	named := 0
	if line.Principal != (api.Principal{}) {
		named++
		if !line.Principal.Valid() {
			return badValue("principal", "%q is not a user@NODE", line.Principal)
		}
	}
	if line.Node != "" {
		named++
		if !line.Node.Valid() {
			return badValue("node", "%q is not a node id", line.Node)
		}
	}
	if line.Members {
		named++
	}
	if named != 1 {
		return badValue("principal", "name exactly one of principal, node and members: the line is for whom it names")
	}
	if (line.Account == "") != line.Nobody || len(line.Account) > maxAccountName {
		return badValue("account", "a line of the account map has either an account or \"nobody\"")
	}
	if line.MaxPriority < 0 || line.MaxPriority > api.MaxPriority || line.Nobody && line.MaxPriority > 0 {
		return badValue("max_priority", "max_priority is %d, and 0 to %d are allowed, of a line with an account", line.MaxPriority, api.MaxPriority)
	}
	return nil
}

// lineOf is the line that counts for a principal of a member; false if there is
// none.
func lineOf(lines []api.MappedUser, who api.Principal) (api.MappedUser, bool) {
	for _, line := range lines { // the closest come first
		if line.Principal == who || line.Node != "" && line.Node == who.Node || line.Members {
			return line, true
		}
	}
	return api.MappedUser{}, false
}

// withLine is the map with a line, instead of one of the same people.
func withLine(lines []api.MappedUser, line api.MappedUser) []api.MappedUser {
	at, found := slices.BinarySearchFunc(lines, line, compareLines)
	if found {
		lines[at] = line
		return lines
	}
	return slices.Insert(lines, at, line)
}

// published is what others learn: who is mapped, and not to which account.
func (r record) published() api.Sharing {
	s := r.copied().Sharing
	isBounded := slices.ContainsFunc(r.Users, func(line api.MappedUser) bool { return line.MaxPriority > 0 })
	for _, line := range r.Users {
		if isBounded {
			s.Priorities = append(s.Priorities, api.PriorityMax{Principal: line.Principal, Node: line.Node, MaxPriority: line.MaxPriority})
		}
		switch {
		case line.Members:
			s.MappedMembers = !line.Nobody
		case line.Node != "" && line.Nobody:
			s.UnmappedNodes = append(s.UnmappedNodes, line.Node)
		case line.Node != "":
			s.MappedNodes = append(s.MappedNodes, line.Node)
		case line.Nobody:
			s.Unmapped = append(s.Unmapped, line.Principal)
		default:
			s.Mapped = append(s.Mapped, line.Principal)
		}
	}
	return s
}

package policy

import (
	"slices"

	"fulmen/daemon/api"
)

// Users is the map. Account names are for administrators of this Mac alone.
func (p *Policy) Users(admin bool) api.ClusterUsersResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	result := api.ClusterUsersResult{Users: append([]api.MappedUser{}, p.record.Users...)}
	if !admin {
		for i := range result.Users {
			result.Users[i].Account = ""
		}
	}
	return result
}

// CheckAccount says why no job may run as an account, as MapUser and Join would;
// empty, which maps nobody, is right.
func (p *Policy) CheckAccount(name string) error {
	if name == "" {
		return nil
	}
	_, err := p.options.Bounds.Check(p.options.Accounts, name)
	return err
}

// MapUser changes one line of the map. Without an account the line stays as an
// exception, so that a wider one made later does not let in whom a person here
// has refused; Forget takes it away. Errors: bad_value for a line of nobody or of
// this node's own people as a whole, not_a_member, more than MaxLines lines, and
// those of [Bounds.Check].
func (p *Policy) MapUser(c api.ClusterMapUserParams) error {
	line := api.MappedUser{Principal: c.Principal, Node: c.Node, Members: c.Members, Account: c.Account, Nobody: c.Account == "", MaxPriority: c.MaxPriority}
	if err := checkLine(line); err != nil {
		return err
	}
	if c.Forget && c.Account != "" {
		return badValue("forget", "a line that is forgotten cannot be given an account")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.record.copied()
	if c.Forget || c.Members && c.Account == "" { // no line is wider than that of all
		next.Users = slices.DeleteFunc(next.Users, func(other api.MappedUser) bool { return compareLines(other, line) == 0 })
		if len(next.Users) == len(p.record.Users) {
			return nil
		}
		return p.takeLocked(next)
	}
	switch node := c.Principal.Node + c.Node; { // one of them is set, or neither
	case c.Node == p.options.Node:
		return badValue("node", "people of this Mac run as their own accounts here; name one of them")
	case !c.Members && !p.isHere(node):
		return notMember(node)
	}
	if c.Account != "" {
		account, err := p.options.Bounds.Check(p.options.Accounts, c.Account)
		if err != nil {
			return err
		}
		line.Account = account.Name
	}
	next.Users = withLine(next.Users, line)
	if len(next.Users) > MaxLines {
		return badValue("principal", "the account map already has %d lines, the most that are allowed", MaxLines)
	}
	if slices.Equal(next.Users, p.record.Users) {
		return nil
	}
	return p.takeLocked(next)
}

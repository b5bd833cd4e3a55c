package model

import (
	"context"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare/account"
)

// Whoever watches gets the copies to their own account, and is woken by each change of them.
func TestWatch(t *testing.T) {
	is := is.New(t)
	const there = api.NodeID("axwfk1even66ca3j")
	m := &Models{copies: map[*Copying]api.ModelCopying{}, watches: map[*Watch]bool{}}
	m.cfg.Account = func(who api.Principal) (account.Account, error) {
		if who.User == "eve" {
			return account.Account{}, api.NewError(api.ReasonPrincipalUnmapped, "")
		}
		return account.Account{Name: "ada"}, nil
	}
	bob := api.Principal{User: "bob", Node: there}
	w, err := m.Watch(bob)
	is.NoErr(err)
	defer w.Close()
	now := func() []api.ModelCopying {
		t.Helper()
		w.isLater = false // it does not rest
		all, err := w.Next(t.Context())
		is.NoErr(err)
		return all
	}
	is.Equal(now(), []api.ModelCopying{})
	copying := func(account, name string) (*Copying, *api.ModelCopying) {
		return &Copying{Account: account}, &api.ModelCopying{ModelSelect: api.ModelSelect{Model: name}, From: there, Progress: api.ModelProgress{DoneBytes: 1, TotalBytes: 2}}
	}
	second, shown2 := copying(w.account, "org/second")
	first, shown := copying(w.account, "org/first")
	others, shown3 := copying("another", "org/third")
	m.goes(others, shown3)
	is.Equal(len(w.wake), 0) // nothing of theirs
	m.goes(second, shown2)
	m.goes(first, shown)
	is.Equal(now(), []api.ModelCopying{*shown, *shown2})
	m.goes(first, nil)
	is.Equal(now(), []api.ModelCopying{*shown2})
	w.isLater = false
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.Next(ctx)
	is.True(err != nil)
	_, err = m.Watch(api.Principal{User: "eve", Node: there})
	is.True(err != nil)
}

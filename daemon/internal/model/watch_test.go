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
	copying := func(account, name string) *Copying {
		return &Copying{Account: account, now: api.ModelCopying{ModelSelect: api.ModelSelect{Model: name}, From: there, Progress: api.ModelProgress{DoneBytes: 1, TotalBytes: 2}}}
	}
	second, first, others := copying(w.account, "org/second"), copying(w.account, "org/first"), copying("another", "org/third")
	m.goes(others)
	is.Equal(len(w.wake), 0) // nothing of theirs
	m.goes(second)
	m.goes(first)
	is.Equal(now(), []api.ModelCopying{first.now, second.now})
	m.ended(first)
	is.Equal(now(), []api.ModelCopying{second.now})
	w.isLater = false
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.Next(ctx)
	is.True(err != nil)
	_, err = m.Watch(api.Principal{User: "eve", Node: there})
	is.True(err != nil)
}

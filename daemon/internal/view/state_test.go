package view

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
)

// one is a node's knowledge of a job of a principal.
type one struct {
	id   api.JobID
	of   api.Principal
	gone bool
}

func (o one) Counts(id api.JobID, job api.Job) bool { return id == o.id && job.Principal == o.of }

func (o one) Known(id api.JobID) (gate.Known, bool) {
	return gate.Known{Job: api.Job{Principal: o.of}, Gone: o.gone}, id == o.id
}

// The documents of a job are for whoever may act for its principal, and for
// administrators; all others are for everybody.
func TestWhoSeesAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := newGraph(t, 0)
		const id = api.JobID("jaaaaaaaa")
		owner := api.Principal{User: "ada", Node: r.ledger.Node()}
		is.NoErr(r.writer.Put(ledger.Draft{Kind: api.KindJob, Name: id.String(), Value: api.Job{
			Spec: []byte("{}"), Principal: owner, Home: owner.Node, Epoch: 1, Phase: api.JobRunning, PhaseSince: api.TimeOf(time.Now()),
		}}))
		is.NoErr(r.writer.Put(ledger.Draft{Kind: api.KindRank, Name: api.RankRef{Job: id, Attempt: 1}.String(), Value: api.Rank{
			Job: id, Attempt: 1, Epoch: 1, Phase: api.RankRunning, PhaseSince: api.TimeOf(time.Now()),
		}}))
		is.NoErr(r.writer.Put(ledger.Draft{Kind: api.KindMemory, Value: api.Memory{}}))
		me := api.Principal{User: server.UserName(uint32(os.Getuid())), Node: r.ledger.Node()}
		seen := func(class api.MethodClass, may, gone bool) (kinds []api.Kind) {
			s := State{Ledger: r.ledger, Jobs: one{id, owner, gone}, May: func(by, of api.Principal) bool { return may && by == me && of == owner }}
			sees := s.sees(server.Viewer{UID: uint32(os.Getuid()), Class: class})
			for _, record := range r.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindJob, api.KindRank, api.KindMemory}}) {
				if sees(record) {
					kinds = append(kinds, record.Key().Kind)
				}
			}
			return kinds
		}
		all := seen(api.ClassAdmin, false, true)
		is.Equal(len(all), 3)
		is.Equal(seen(api.ClassUser, true, false), all)
		is.Equal(seen(api.ClassUser, false, false), []api.Kind{api.KindMemory})
		is.Equal(len(seen(api.ClassUser, true, true)), 2) // not the ranks of a job that was deleted
	})
}

package attach_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/attach"
)

// give gives the job input and returns the reason of a refusal.
func (r *rig) give(offset int, data string, end bool) api.Reason {
	return r.giveAs(r.ada, offset, data, end)
}

func (r *rig) giveAs(by api.Principal, offset int, data string, end bool) api.Reason {
	_, err := r.attach.Input(r.t.Context(), by, api.JobInputParams{Job: jobID, OffsetBytes: int64(offset), Data: []byte(data), End: end})
	if err != nil {
		return api.AsError(err).Data.Reason
	}
	return ""
}

// program is a rank as it is once all is quiet.
func (r *rig) program(attempt, rank int) program {
	synctest.Wait()
	p, _, _ := r.far[rank+1].see(ref(attempt, rank))
	return p
}

func TestInputForAllRanks(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		is.Equal(r.give(0, "early ", false), api.Reason("")) // before there is an attempt
		r.begin(api.RankPreparing)
		is.Equal(r.give(0, "early ", false), api.Reason(""))
		is.Equal(r.give(4, "y and ", false), api.Reason(""))
		is.Equal(r.program(1, 0).input, "")
		r.rank(1, 0, api.RankRunning)
		is.Equal(r.program(1, 0).input, "early and ")
		is.Equal(r.program(1, 1).input, "") // it does not run yet
		r.rank(1, 1, api.RankRunning)
		is.Equal(r.give(10, "late", true), api.Reason(""))
		is.Equal(r.give(10, "late", true), api.Reason(""))
		for rank := range 2 {
			is.Equal(r.program(1, rank).input, "early and late")
			is.True(r.program(1, rank).over)
			is.Equal(r.program(1, rank).by, r.ada)
		}
		is.Equal(r.give(14, "more", false), api.ReasonBadValue)
		is.Equal(r.give(99, "gap", false), api.ReasonBadValue)

		r.end(api.JobSucceeded)
		synctest.Wait()
		is.Equal(r.give(14, "", false), api.ReasonJobEnded)
	})
}

func TestInputForOne(t *testing.T) {
	for name, test := range map[string]struct {
		program api.Program
		zero    string
		refused api.Reason
	}{
		"rank 0":     {api.Program{Stdin: api.StdinRank0}, "typed", ""},
		"a terminal": {api.Program{Stdin: api.StdinNone, Terminal: true}, "typed", ""},
		"nobody":     {api.Program{Stdin: api.StdinNone}, "", api.ReasonBadValue},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				is := is.New(t)
				r.spec(test.program)
				r.begin(api.RankRunning)
				is.Equal(r.give(0, "typed", false), test.refused)
				is.Equal(r.program(1, 0).input, test.zero)
				is.Equal(r.program(1, 1).input, "")
				is.Equal(r.give(len(test.zero), "", true), api.Reason("")) // an end is none too many
			})
		})
	}
}

func TestALaterAttemptIsGivenAllAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		is.Equal(r.give(0, "the whole", true), api.Reason(""))
		is.True(r.program(1, 0).over)
		r.end(api.JobBackoff)
		r.begin(api.RankRunning)
		for rank := range 2 {
			is.Equal(r.program(2, rank).input, "the whole")
			is.True(r.program(2, rank).over)
		}
		is.Equal(len(r.lost), 0)
	})
}

func TestInputThatIsNotKept(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		r.far[2].do(ref(1, 1), func(p *program) { p.reads = 100 }) // rank 1 is slow
		big := strings.Repeat("z", attach.MaxKept)
		is.Equal(r.give(0, big, false), api.Reason(""))
		is.Equal(len(r.program(1, 0).input), attach.MaxKept)

		// There is no room before the slow one has read something.
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := r.attach.Input(ctx, r.ada, api.JobInputParams{Job: jobID, OffsetBytes: attach.MaxKept, Data: []byte(big)})
		is.Equal(err, context.DeadlineExceeded)
		waits := make(chan api.Reason, 1)
		go func() { waits <- r.give(attach.MaxKept, big, false) }()
		synctest.Wait()
		is.Equal(len(waits), 0)
		r.far[2].do(ref(1, 1), func(p *program) { p.reads = 10 << 20 })
		is.Equal(<-waits, api.Reason(""))
		is.Equal(len(r.program(1, 1).input), 2*attach.MaxKept)

		// What was let go cannot be given to a later attempt, and that is said.
		r.end(api.JobBackoff)
		r.begin(api.RankRunning)
		is.Equal(r.program(2, 0).input, "")
		is.True(!r.program(2, 0).over)
		is.Equal(r.give(2*attach.MaxKept, "more", false), api.ReasonInputLost)
		is.Equal(r.lost, []api.JobID{jobID})
	})
}

func TestAWayThatBreaksLosesNoInput(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		want := ""
		for i := range 20 {
			piece := strings.Repeat(string(rune('a'+i)), 7000)
			if i%4 == 2 {
				r.scenario.Cut(r.nodes[0], r.nodes[1])
			}
			is.Equal(r.give(len(want), piece, false), api.Reason(""))
			want += piece
			if i%4 == 2 {
				time.Sleep(time.Minute)
				synctest.Wait()
				r.scenario.Join(r.nodes[0], r.nodes[1])
				time.Sleep(time.Minute)
				synctest.Wait()
			}
		}
		is.Equal(r.program(1, 0).input, want)
		is.Equal(r.program(1, 1).input, want)
	})
}

// TestADaemonThatForgot has input begin in the middle, as after this node's
// daemon was started again: the rank says how far it is.
func TestADaemonThatForgot(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		for rank := range 2 {
			r.far[rank+1].do(ref(1, rank), func(p *program) { p.input = "known " })
		}
		is.Equal(r.give(3, "wn and new", true), api.Reason(""))
		is.Equal(r.program(1, 0).input, "known and new")
		is.True(r.program(1, 1).over)
	})
}

// giveFrom gives as one of several clients, and returns where all input ends.
func (r *rig) giveFrom(a *attach.Attach, giver string, offset int64, data string) (int64, api.Reason) {
	result, err := a.Input(r.t.Context(), r.ada, api.JobInputParams{Job: jobID, Giver: giver, OffsetBytes: offset, Data: []byte(data)})
	if err != nil {
		return 0, api.AsError(err).Data.Reason
	}
	return result.OffsetBytes, ""
}

// Of two clients of one daemon the one gives that asked last for the place after
// all input, and the other one is told.
func TestASecondClientGives(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		is.Equal(r.give(0, "one ", false), api.Reason(""))
		for _, step := range []struct {
			giver  string
			offset int64
			data   string
			end    int64
			reason api.Reason
		}{
			{"b", 4, "two ", 0, api.ReasonInputElsewhere},
			{"b", api.InputAfterAll, "", 4, ""},
			{"b", 4, "two ", 8, ""},
			{"", 4, "lost", 0, api.ReasonInputElsewhere}, // it was never told of the two
			{"b", 4, "two ", 8, ""},
			{"", api.InputAfterAll, "three", 13, ""},
			{"b", 8, "lost", 0, api.ReasonInputElsewhere},
			{"", -2, "", 0, api.ReasonBadValue},
		} {
			end, reason := r.giveFrom(r.attach, step.giver, step.offset, step.data)
			is.Equal(reason, step.reason)
			is.Equal(end, step.end)
		}
		is.Equal(r.program(1, 0).input, "one two three")
	})
}

// A client that comes to a daemon which was given nothing, because another node's
// was or because it forgot, hears of the place from the ranks.
func TestTheRanksSayWhereInputGoesOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankPreparing)
		for rank := range 2 {
			r.far[rank+1].do(ref(1, rank), func(p *program) { p.input = "known " })
		}
		placed := make(chan int64)
		go func() {
			end, _ := r.giveFrom(r.attach, "b", api.InputAfterAll, "and ")
			placed <- end
		}()
		r.rank(1, 0, api.RankRunning)
		synctest.Wait()
		is.Equal(r.program(1, 0).input, "known ") // rank 1 may have been given more
		r.rank(1, 1, api.RankRunning)
		is.Equal(<-placed, int64(10))
		end, reason := r.giveFrom(r.attach, "b", 10, "new")
		is.Equal(reason, api.Reason(""))
		is.Equal(end, int64(13))
		for rank := range 2 {
			is.Equal(r.program(1, rank).input, "known and new")
		}
	})
}

// A client of another node takes the input over, and this node's takes it back.
func TestAnotherNodeGives(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		is.Equal(r.give(0, "here ", false), api.Reason(""))
		for rank := range 2 {
			r.program(1, rank)
			r.far[rank+1].do(ref(1, rank), func(p *program) { p.input += "there "; p.displaced = true })
		}
		synctest.Wait()
		_, reason := r.giveFrom(r.attach, "", 5, "lost ")
		is.Equal(reason, api.ReasonInputElsewhere)
		end, reason := r.giveFrom(r.attach, "", api.InputAfterAll, "again")
		is.Equal(reason, api.Reason(""))
		is.Equal(end, int64(16))
		for rank := range 2 {
			is.Equal(r.program(1, rank).input, "here there again")
		}
	})
}

func TestWhoMayGive(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.begin(api.RankRunning)
		is.Equal(r.giveAs(api.Principal{User: "eve", Node: r.nodes[0]}, 0, "x", false), api.ReasonNotYourJob)
		root := api.Principal{User: "root", Node: r.nodes[0]}
		is.Equal(r.giveAs(root, 0, "x", false), api.Reason(""))
		is.Equal(r.program(1, 0).by, root)
		err := r.attach.Resize(t.Context(), r.ada, api.JobResizeParams{Job: jobID, Rows: 1, Columns: 1})
		is.Equal(api.AsError(err).Data.Reason, api.ReasonBadValue) // it has no terminal
	})
}

func TestTheSizeOfATerminal(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		is := is.New(t)
		r.spec(api.Program{Stdin: api.StdinRank0, Terminal: true})
		size := func(rows int) error {
			return r.attach.Resize(t.Context(), r.ada, api.JobResizeParams{Job: jobID, Rows: rows, Columns: 80})
		}
		is.NoErr(size(10)) // before there is one
		r.begin(api.RankRunning)
		is.Equal(r.program(1, 0).rows, 10)
		is.NoErr(size(20))
		is.Equal(r.program(1, 0).rows, 20)
		is.Equal(r.program(1, 1).rows, 0)
		r.end(api.JobBackoff)
		r.begin(api.RankRunning)
		is.Equal(r.program(2, 0).rows, 20) // a later attempt has the same one
	})
}

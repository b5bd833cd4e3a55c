package phase

import (
	"reflect"
	"testing"

	"fulmen/daemon/api"
)

// FuzzNext throws any events in any order at a job and holds every step to what
// must be true of it; the state given to Next must stay as it was.
func FuzzNext(f *testing.F) {
	f.Add([]byte{0, 0, 0, 5, 1, 0, 5, 1, 1, 3, 1, 0, 7, 1, 0x30, 7, 1, 0x31})
	f.Add([]byte{16, 1, 0, 0, 0, 0, 5, 0, 1, 5, 0, 2, 17, 0, 1, 3, 0, 0, 7, 1, 0x11, 7, 1, 0x12, 7, 0, 0x41, 7, 0, 0x42, 0})
	f.Add([]byte{0, 2, 0, 14, 0, 0, 15, 1, 0, 18, 2, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		r := rules()
		r.Retries, r.Placing, r.Prepares, r.Kept = 1, 1, len(in)%3 == 1, len(in)%5 == 2
		s, _ := Accept(nodeID(0), api.Job{}, r, at(0))
		reports := 0
		for i := 0; i+2 < len(in) && i < 600; i += 3 {
			e := event(s, in[i], int(in[i+1]), in[i+2])
			before, role := s.clone(), s.Role
			next, out := Next(s, at(i), e)
			if !reflect.DeepEqual(before, s.clone()) {
				t.Fatal("Next changed the state it was given")
			}
			checkStep(t, s, next, out)
			for _, o := range out {
				if _, ok := o.(NotifyTerminal); ok {
					reports++
				}
			}
			if reports > 1 || role == RoleHome && s.Job.Phase.Ended() && next.Role != role {
				t.Fatal("ended twice")
			}
			s = next
		}
	})
}

// event makes an event of three numbers, mostly about the current attempt.
func event(s State, kind byte, a int, b byte) Event {
	attempt, rank := s.Job.Attempt-a/200, int(b%4)-1
	node := nodeID(int(b % 4))
	cause := Cause{Reason: api.ReasonNodeLost, Final: b > 250}
	switch kind % 23 {
	case 0:
		return Planned{planOn([]api.Backend{api.BackendRing, api.BackendJACCL}[a%2], nodeIDs(int(b%3), int(b%3)+1)...)}
	case 1:
		if a%3 == 0 {
			return Preempted{Cause{Reason: api.ReasonPreempted, Message: "Rank 0 makes room."}}
		}
		return Unplaceable{Cause: cause, Early: a%4 == 1, Wanted: &api.Wanted{Grants: []api.WantedGrant{{Node: node}}}}
	case 2:
		return Seen{api.Job{Home: node, Epoch: s.Job.Epoch + 1, Phase: api.JobPlacing}}
	case 3:
		return Preflighted{Attempt: attempt}
	case 4:
		return PreflightFailed{Attempt: attempt, Cause: cause, Replan: a%2 == 0}
	case 5:
		return Granted{attempt, rank, node}
	case 6:
		return Noted{attempt, api.Cause{Reason: api.ReasonGPUUsedByOtherProgram, Subject: string(node)}}
	case 7:
		phases := api.RankPhase("").Values()
		return RankAt{Attempt: attempt, Rank: rank, Phase: api.RankPhase(phases[int(b>>4)%len(phases)]), Prepared: a%4 == 1}
	case 8:
		if a%2 == 0 {
			cause.Reason = api.ReasonMeasurementRunning
		}
		return GrantRefused{attempt, rank, b < 128, cause}
	case 9, 10:
		if b > 200 {
			return RankEnded{Attempt: attempt, Rank: rank}
		}
		states := api.HandshakeState("").Values()
		state := api.HandshakeState(states[a%len(states)])
		if b&0x20 != 0 {
			return RankFailing{Attempt: attempt, Rank: rank, Exit: exit(int(b >> 6)), At: at(a % 3), Handshake: state, Severed: a%7 == 0}
		}
		return RankEnded{Attempt: attempt, Rank: rank, Exit: exit(int(b >> 6)), At: at(a % 3), Handshake: state, Severed: a%5 == 0}
	case 11:
		return Renewed{attempt, node}
	case 12:
		return VoteRefused{uint64(b)}
	case 13:
		return NodeLost{Node: node, Cause: cause}
	case 14:
		return NodeBack{node}
	case 15:
		return StopAsked{Kill: b > 127}
	case 16:
		return Presence{nodeIDs(0, 1, 2, 3), nodeIDs(0, 1, 2, 3)[:1+a%4]}
	case 17:
		return Held{attempt, s.Job.Epoch, []api.NodeID{node}}
	case 18:
		plan := planOn(api.BackendRing, node, nodeID(2))
		return Seen{api.Job{Home: node, Epoch: uint64(a % 4), Phase: api.JobPhase(api.JobPhase("").Values()[int(b)%11]),
			Attempt: 1, Attempts: []api.Attempt{{Attempt: 1, Plan: &plan}}}}
	case 19:
		return TakeOver{}
	case 20:
		return HandOverRefused{node, cause}
	case 21:
		switch a % 3 {
		case 1:
			return Stalled{attempt, rank, []string{"", "does nothing"}[b>>7]}
		case 2:
			return AskAgain{attempt}
		}
		return LinkLost{attempt, cause}
	}
	if len(s.Timers) > 0 {
		return TimerFired{s.Timers[a%len(s.Timers)]}
	}
	return Printed{}
}

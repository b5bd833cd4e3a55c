package job

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// jaccl plans a mesh over the cables that there are, among the nodes in sight.
func (w *world) jaccl(backend api.Backend, nodes []api.NodeID) (api.Plan, error) {
	plan := api.Plan{Backend: backend, Shape: api.ShapeMesh}
	cables := w.cablesNow()
	for i, n := range nodes {
		plan.Ranks = append(plan.Ranks, api.PlanRank{Rank: i, Node: n, GPU: api.GPUExclusive})
		for k, other := range nodes[:i] {
			at := slices.IndexFunc(cables, func(c api.Cable) bool {
				return c.RDMA == api.RDMAReady && (c.Ends[0].End.Node == n && c.Ends[1].End.Node == other || c.Ends[0].End.Node == other && c.Ends[1].End.Node == n)
			})
			if at < 0 {
				return api.Plan{}, api.NewError(api.ReasonNoBackend, "")
			}
			plan.Links = append(plan.Links, api.PlanLink{From: k, To: i, Kind: api.LinkRDMA, Link: cables[at].Link})
		}
	}
	return plan, nil
}

// unfit refuses one version of MLX.
func unfit(plan api.Plan, mlx map[api.NodeID]api.ProgramMLX) (faults, notes []api.Cause) {
	for _, r := range plan.Ranks {
		if plan.Backend == api.BackendJACCLRing && mlx[r.Node].Version == "0.32.2" {
			return []api.Cause{api.NewError(api.ReasonMLXTooOld, string(r.Node)).Cause()}, nil
		}
	}
	return nil, nil
}

// reports publishes what the machine says of itself.
func (m *machine) reports(state api.NodeState) {
	if err := m.writer.Put(ledger.Draft{Kind: api.KindNodeState, Value: state}); err != nil {
		m.w.t.Fatal(err)
	}
}

func (w *world) cablesNow() []api.Cable {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.cables)
}

// nameOf calls the machines mac-0, mac-1 and so on.
func (w *world) nameOf(id api.NodeID) string {
	return "mac-" + strconv.Itoa(slices.IndexFunc(w.nodes, func(m *machine) bool { return m.id == id }))
}

// plug joins every two of the machines by a cable.
func (w *world) plug(all ...*machine) {
	w.change(func() {
		for i, a := range all {
			for k, b := range all[:i] {
				id, err := api.NewLinkID(api.LinkEnd{Node: a.id, PortNumber: api.PortNumber(k + 1)}, api.LinkEnd{Node: b.id, PortNumber: api.PortNumber(i + 1)})
				if err != nil {
					w.t.Fatal(err)
				}
				speed := int64(80e9)
				w.cables = append(w.cables, api.Cable{Link: id, RDMA: api.RDMAReady, Verdict: api.VerdictGood, ForwardBitsPerS: &speed, BackwardBitsPerS: &speed,
					Ends: []api.CableEnd{{End: id.Low, Device: "rdma_en1"}, {End: id.High, Device: "rdma_en1"}}})
			}
		}
	})
}

// change changes the cables, and tells every controller.
func (w *world) change(f func()) {
	w.mu.Lock()
	f()
	w.mu.Unlock()
	for _, m := range w.nodes {
		if m.isUp() {
			m.LinksChanged()
		}
	}
}

// begins is the way of a rank with a handshake. Its program is words: join D (it
// joins after that, and hangs); late D RANK (so does the rank, and the others hang in
// the handshake until then); quit CODE RANK N (the rank ends so without having
// dialled, in the first N attempts; then all join); fall CODE RANK N (the same after
// having dialled, and the others complain); fail REASON RANK (its node ends the rank
// for that reason). The machine's lock is held.
func (p *process) begins(words []string) {
	handshake := api.Handshake{State: api.HandshakeNone}
	p.doc.Phase, p.doc.Handshake = api.RankHandshake, &handshake
	p.at.notify(p)
	number := func(i int) int {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			p.at.w.breaks("%v", err)
		}
		return n
	}
	mine := len(words) > 2 && number(2) == p.doc.Rank
	soon := 20 * time.Millisecond
	switch {
	case words[0] == "join" || words[0] == "late" && mine:
		d, err := time.ParseDuration(words[1])
		if err != nil {
			p.at.w.breaks("%v", err)
		}
		p.after(d, func() { p.reaches(api.HandshakeJoined) })
	case words[0] == "late":
		p.after(soon, func() { p.reaches(api.HandshakeConnected) })
	case words[0] == "fail" && mine:
		p.after(soon, func() { p.end(api.Exit{Signal: 15}, api.Reason(words[1])) })
	case words[0] == "fail":
	case number(3) < p.doc.Attempt:
		p.after(soon, func() { p.reaches(api.HandshakeJoined) })
	case words[0] == "quit" && mine:
		code := number(1)
		p.after(soon, func() { p.falls(code, false) })
	case words[0] == "fall":
		code := number(1)
		p.after(soon, func() { p.reaches(api.HandshakeConnected) })
		// Those that complain are heard of first: the others' ends take longer.
		if mine {
			p.after(soon+8*time.Millisecond, func() { p.falls(code, false) })
		} else {
			p.after(soon+4*time.Millisecond, func() { p.falls(1, true) })
		}
	}
}

func (p *process) after(d time.Duration, f func()) { p.ends = time.AfterFunc(d, f) }

// reaches tells how far the rank has come in joining.
func (p *process) reaches(state api.HandshakeState) {
	p.at.mu.Lock()
	defer p.at.mu.Unlock()
	if p.doc.Phase.Ended() {
		return
	}
	p.doc.Handshake = &api.Handshake{State: state}
	if state == api.HandshakeJoined {
		p.doc.Phase = api.RankRunning
	}
	p.at.notify(p)
}

// falls ends the rank's program.
func (p *process) falls(code int, severed bool) {
	p.at.mu.Lock()
	if !p.doc.Phase.Ended() {
		p.doc.Handshake = &api.Handshake{State: p.doc.Handshake.State, Severed: severed}
		p.doc.EndedAt = api.TimeOf(time.Now())
		p.doc.Message = fmt.Sprintf("Rank %d ended with exit code %d.", p.doc.Rank, code)
	}
	p.at.mu.Unlock()
	reason := api.ReasonRankFailed
	if code == 0 {
		reason = ""
	}
	p.end(api.Exit{Code: &code}, reason)
}

package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
)

// ranks is the node side of ranks: fences, grants with leases, and processes that
// live on without a daemon until their leases run out.
type ranks struct {
	fences map[api.JobID]uint64
	barred map[string]bool // attempts whose end was taken
	procs  map[api.RankRef]*process
	grants map[string]time.Time
}

type process struct {
	at    *machine
	doc   api.Rank
	lease *time.Timer
	ends  *time.Timer
	run   func() // of one that waits for the others
}

func (r *ranks) init() {
	r.fences, r.barred, r.procs, r.grants = map[api.JobID]uint64{}, map[string]bool{}, map[api.RankRef]*process{}, map[string]time.Time{}
}

// serve sets the node's handlers.
func (m *machine) serve(p *peer.Peers) {
	handle(m, p, gate.Preflight, func(in api.PeerPreflightParams) (any, error) {
		answer := api.Preflight{Node: m.id}
		m.w.mu.Lock()
		defer m.w.mu.Unlock()
		if specOf(in.Spec).Model.Model != "" {
			answer.Model = m.w.models[m.id]
		}
		if in.ModelOnly {
			return answer, nil
		}
		if answer.Model != nil && in.ModelRevision != "abc" {
			m.w.broken = cmp.Or(m.w.broken, "a node was asked for revision "+in.ModelRevision+", which is not the plan's")
		}
		if m.w.mlx != "" {
			answer.Versions = map[string]string{"mlx": m.w.mlx}
		}
		if c, ok := m.w.lack[specOf(in.Spec).Program.Command[0]]; ok {
			answer.Problems = []api.Cause{c}
		}
		return answer, nil
	})
	handle(m, p, gate.Listen, func(in api.PeerListenParams) (any, error) {
		out := api.PeerListenResult{}
		for _, a := range in.Addresses {
			out.Addresses = append(out.Addresses, netip.AddrPortFrom(a, 4242))
		}
		return out, m.fenced(in.Rank.Job, in.Epoch)
	})
	handle(m, p, gate.Grant, func(in api.PeerGrantParams) (any, error) {
		ref, _ := api.ParseRankRef(in.Holder)
		if err := m.fenced(ref.Job, in.Epoch); err != nil {
			return nil, err
		}
		m.mu.Lock()
		denies := m.denies
		m.mu.Unlock()
		if denies != nil {
			return denies()
		}
		for deadline := time.Now().Add(time.Duration(in.WaitS * float64(time.Second))); ; <-time.After(100 * time.Millisecond) {
			m.mu.Lock()
			holder := ""
			for other, until := range m.grants {
				if other != in.Holder && time.Now().Before(until) && in.GPU == api.GPUExclusive {
					holder = other
				}
			}
			if holder == "" {
				m.grants[in.Holder] = time.Now().Add(m.w.times.Lease)
			}
			m.mu.Unlock()
			if holder == "" {
				return api.Grant{State: api.GrantHeld, Reason: m.beside}, nil
			}
			if !time.Now().Before(deadline) {
				return api.Grant{State: api.GrantWaiting, Reason: api.ReasonGPUBusy, WaitingFor: holder}, nil
			}
		}
	})
	handle(m, p, gate.Release, func(in api.PeerHolderParams) (any, error) {
		ref, _ := api.ParseRankRef(in.Holder)
		err := m.fenced(ref.Job, in.Epoch)
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil {
			delete(m.grants, in.Holder)
		}
		return api.Empty{}, err
	})
	handle(m, p, gate.Start, func(in api.PeerStartParams) (any, error) {
		if m.unanswered.Add(-1) >= 0 {
			<-time.After(30 * time.Second) // the caller gives up before
		}
		if m.w.slowStart > 0 {
			<-time.After(m.w.slowStart)
		}
		return api.Empty{}, m.spawn1(in)
	})
	handle(m, p, gate.Spawn, m.spawnPrepared)
	handle(m, p, gate.Renew, func(in api.PeerRenewParams) (any, error) {
		if err := m.fencedBy(in.Job, in.Epoch, in.Warrant); err != nil {
			return nil, err
		}
		out := api.PeerRenewResult{Ranks: []int{}}
		m.w.mu.Lock()
		m.w.printed += m.w.prints
		out.PrintedBytes = m.w.printed
		m.w.mu.Unlock()
		m.mu.Lock()
		defer m.mu.Unlock()
		for holder := range m.grants {
			if strings.HasPrefix(holder, fmt.Sprintf("%s/%d/", in.Job, in.Attempt)) {
				m.grants[holder] = time.Now().Add(m.w.times.Lease)
			}
		}
		for ref, p := range m.procs {
			if ref.Job == in.Job && ref.Attempt == in.Attempt && !p.doc.Phase.Ended() {
				p.lease.Reset(m.w.times.Lease)
				out.Ranks = append(out.Ranks, ref.Rank)
			}
		}
		return out, nil
	})
	handle(m, p, gate.End, func(in api.PeerEndParams) (any, error) {
		if err := m.fencedBy(in.Job, in.Epoch, in.Warrant); err != nil {
			return nil, err
		}
		m.mu.Lock()
		m.barred[fmt.Sprint(in.Job, "/", in.Attempt)] = true
		var all []*process
		for _, rank := range in.Ranks {
			ref := api.RankRef{Job: in.Job, Attempt: in.Attempt, Rank: rank}
			if m.procs[ref] == nil { // never started, and never will be
				m.procs[ref] = &process{at: m, doc: api.Rank{Job: in.Job, Attempt: in.Attempt, Rank: rank, Epoch: in.Epoch, Phase: api.RankLost}}
				m.notify(m.procs[ref])
			}
			all = append(all, m.procs[ref])
		}
		m.mu.Unlock()
		for _, p := range all {
			time.AfterFunc(time.Duration(in.GraceS*float64(time.Second))/2, func() {
				m.mu.Lock()
				p.doc.Message = in.Message
				m.mu.Unlock()
				p.end(api.Exit{Signal: 15}, in.Reason)
			})
		}
		return api.Empty{}, nil
	})
}

func handle[P gate.Claimer](m *machine, p *peer.Peers, d gate.HomeRoute, h func(P) (any, error)) {
	p.HandleCall(gate.HandleHome(d, func(_ context.Context, _ gate.Home, params P) (any, error) {
		m.waits()
		m.w.mu.Lock()
		m.w.calls[d.Name()]++
		m.w.mu.Unlock()
		if !m.isUp() {
			return nil, api.NewError(api.ReasonUnreachable, "")
		}
		return h(params)
	}))
}

func (m *machine) fenced(job api.JobID, epoch uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch < m.fences[job] {
		return api.NewError(api.ReasonStaleEpoch, "")
	}
	m.fences[job] = epoch
	return nil
}

// fencedBy is fenced that also refuses a spec to which a rank is not bound.
func (m *machine) fencedBy(job api.JobID, epoch uint64, w api.Warrant) error {
	m.mu.Lock()
	for ref, p := range m.procs {
		if ref.Job == job && p.doc.SpecSHA256 != "" && p.doc.SpecSHA256 != api.SpecSHA256(w.Spec) {
			m.mu.Unlock()
			return api.NewError(api.ReasonSpecAltered, "")
		}
	}
	m.mu.Unlock()
	return m.fenced(job, epoch)
}

// bindRanks has the ranks of a job follow another spec.
func (m *machine) bindRanks(job api.JobID, sha256 string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for ref, p := range m.procs {
		if ref.Job == job && p.doc.SpecSHA256 != "" {
			p.doc.SpecSHA256 = sha256
		}
	}
}

// spawn1 starts a rank. Its program is words: sleep D; exit CODE RANK D (the others
// hang); hang; env NAME VALUE (exits 1 where it has another).
func (m *machine) spawn1(in api.PeerStartParams) error {
	if err := m.fencedBy(in.Rank.Job, in.Epoch, in.Warrant); err != nil {
		return err
	}
	if in.Plan.SpecSHA256 != api.SpecSHA256(in.Spec) {
		m.w.breaks("%s was started by the plan of another spec", in.Rank)
	}
	spec := specOf(in.Spec)
	if in.Plan.Backend == api.BackendRing && (in.Plan.Hosts[in.Rank.Rank][0] == "" || len(in.Plan.Ranks) > 1 && !strings.HasSuffix(in.Plan.Hosts[in.Rank.Rank][0], ":4242")) {
		m.w.breaks("a rank was started without ports: %v", in.Plan.Hosts)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.barred[fmt.Sprint(in.Rank.Job, "/", in.Rank.Attempt)] {
		return api.NewError(api.ReasonJobEnded, "")
	}
	if old := m.procs[in.Rank]; old != nil {
		return nil // it was told before
	}
	lead := in.Rank
	lead.Rank = in.Plan.Lead(in.Rank.Rank)
	if m.grants[lead.String()].Before(time.Now()) {
		m.w.breaks("%s was started without a grant", in.Rank)
	}
	p := &process{at: m, doc: api.Rank{Job: in.Rank.Job, Attempt: in.Rank.Attempt, Rank: in.Rank.Rank, Epoch: in.Epoch, SpecSHA256: api.SpecSHA256(in.Spec), Phase: api.RankRunning}}
	if m.prepared != "" {
		p.doc.Versions = map[string]string{"python": m.prepared}
	}
	m.procs[in.Rank] = p
	p.lease = time.AfterFunc(time.Duration(in.LeaseS*float64(time.Second)), func() {
		time.AfterFunc(m.w.times.FailedGrace, func() { p.end(api.Exit{Signal: 9}, api.ReasonLeaseExpired) })
	})
	if in.Wait {
		p.prepareLocked(func() { p.runsLocked(in, spec.Program.Command) })
	} else {
		p.runsLocked(in, spec.Program.Command)
	}
	return nil
}

// runsLocked is when the program is started. The caller holds the machine's lock.
func (p *process) runsLocked(in api.PeerStartParams, words []string) {
	m := p.at
	m.w.alone(m, in.Rank)
	p.doc.Phase = api.RankRunning
	if in.Plan.Backend.RDMA() {
		p.begins(words)
		return
	}
	m.notify(p)
	after := func(text string, code int) {
		d, err := time.ParseDuration(text)
		if err != nil {
			m.w.breaks("%v", err)
		}
		p.ends = time.AfterFunc(d, func() { p.end(api.Exit{Code: &code}, "") })
	}
	switch words[0] {
	case "sleep":
		after(words[1], 0)
	case "exit":
		if code, _ := strconv.Atoi(words[1]); words[2] == strconv.Itoa(in.Rank.Rank) {
			after(words[3], code)
		}
	case "env":
		code := 0
		if in.Environment[words[1]] != words[2] {
			code = 1
		}
		after("1s", code)
	}
}

func specOf(raw json.RawMessage) (spec api.JobSpec) {
	_ = json.Unmarshal(raw, &spec) // the gate has read it
	return spec
}

// alone checks the law: no rank starts while one of another attempt lives anywhere.
func (w *world) alone(on *machine, ref api.RankRef) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starts++
	for other, m := range w.alive {
		if other.Job == ref.Job && other.Attempt != ref.Attempt && w.broken == "" {
			w.broken = fmt.Sprintf("%s starts on %s while %s lives on %s", ref, on.id, other, m)
		}
	}
	w.alive[ref] = on.id
}

func (w *world) breaks(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}

func (p *process) end(e api.Exit, why api.Reason) {
	p.at.mu.Lock()
	defer p.at.mu.Unlock()
	if p.doc.Phase.Ended() {
		return
	}
	p.doc.Phase, p.doc.Exit, p.doc.Reason = api.RankExited, &e, why
	p.stop()
	p.at.notify(p)
}

func (p *process) stop() {
	p.at.w.mu.Lock()
	delete(p.at.w.alive, api.RankRef{Job: p.doc.Job, Attempt: p.doc.Attempt, Rank: p.doc.Rank})
	p.at.w.mu.Unlock()
	p.lease.Stop()
	if p.ends != nil {
		p.ends.Stop()
	}
}

// notify publishes a rank's document, if there is a daemon to do it.
func (m *machine) notify(p *process) {
	if m.up && m.frozen == nil {
		name := api.RankRef{Job: p.doc.Job, Attempt: p.doc.Attempt, Rank: p.doc.Rank}.String()
		if err := m.writer.Owner("rank", api.KindRank).Put(draft(name, p.doc)); err != nil && !errors.Is(err, context.Canceled) {
			m.w.breaks("%v", err)
		}
	}
}

// notifyAgain publishes what ended while there was no daemon.
func (m *machine) notifyAgain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		m.notify(p)
	}
}

func (m *machine) killRanks() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		if !p.doc.Phase.Ended() {
			p.stop()
		}
	}
}

func (m *machine) forgetRanks(_ context.Context, id api.JobID, output api.OutputPolicy) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for ref, p := range m.procs {
		if ref.Job == id {
			if !p.doc.Phase.Ended() {
				m.w.breaks("%s was forgotten while it lived", ref)
			}
			delete(m.procs, ref)
			m.writer.Delete(api.KindRank, ref.String())
		}
	}
	if line := string(id) + " " + string(output); !slices.Contains(m.forgot, line) {
		m.forgot = append(m.forgot, line)
	}
}

// living counts the processes of a job on all machines.
func (w *world) living(id api.JobID) int {
	n := 0
	for _, m := range w.nodes {
		m.mu.Lock()
		for ref, p := range m.procs {
			if ref.Job == id && !p.doc.Phase.Ended() {
				n++
			}
		}
		m.mu.Unlock()
	}
	return n
}

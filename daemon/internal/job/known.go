package job

import (
	"bytes"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/ledger"
)

// known is what is held of one job. Of one that was deleted it is little, and stays.
type known struct {
	*body
	gone     bool // deleted; body is read only
	over     bool // a home has said that it ended
	lapsed   bool // leases ran out that this node was to renew as the home
	reported bool // it is being forgotten, with what becomes of its output
	actor    *actor
	watches  map[*Watch]struct{} // nil for none
}

// body is what a job consists of.
type body struct {
	docs    map[api.NodeID]held             // by writer; whose home is proven
	acts    map[api.NodeID]held             // of homes by a person's word that does not bind this node
	ends    map[api.NodeID][]api.Succession // deletions by who is not proven to have been the home
	ranks   map[api.Key]rankDoc
	spec    api.JobSpec   // verified
	raw     []byte        // the bytes of spec
	sig     []byte        // by which it was verified
	cluster api.ClusterID // for which it is signed; empty where that is not known
	shown   summed        // of a job that nothing happens to any more
}

// summed is what a list shows of a job by a document.
type summed struct {
	of      *ledger.Record
	summary api.JobSummary
}

// held is one home's document.
type held struct {
	record *ledger.Record
	job    api.Job
}

// rankDoc is what a node says of a rank.
type rankDoc struct {
	record *ledger.Record
	rank   api.Rank
}

func (j *Jobs) know(id api.JobID) *known {
	k := j.jobs[id]
	if k == nil {
		k = &known{body: &body{docs: map[api.NodeID]held{}, acts: map[api.NodeID]held{}, ends: map[api.NodeID][]api.Succession{}, ranks: map[api.Key]rankDoc{}}}
		j.jobs[id] = k
	}
	return k
}

// best is the document that counts; false where there is none.
func (k *known) best() (held, bool) {
	var best held
	found := false
	for _, h := range k.docs {
		if !found || h.job.Outranks(best.job) {
			best, found = h, true
		}
	}
	return best, found && !k.gone
}

// changed wakes everybody who watches the job.
func (k *known) changed() {
	for w := range k.watches {
		w.hint.Wake()
	}
}

// absorb takes in a job document that the ledger holds, and tells the job's actor.
func (j *Jobs) absorb(r *ledger.Record) {
	id, node := api.JobID(r.Key().Name), r.Key().Node
	if r.Deleted() {
		document := r.Document()
		j.deleted(id, node, document.Homes())
		return
	}
	job, err := ledger.Shared[api.Job](r)
	if err != nil || job.Home != node {
		j.cfg.Log.Warn("a job's document is not by its home", "job", id, "node", node)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.know(id)
	if old, ok := k.docs[node]; k.gone || j.memory[id].Gone || ok && r.Version().Compare(old.record.Version()) <= 0 {
		return
	}
	switch isAct, err := j.verifyLocked(k, id, job); {
	case isAct:
		k.acts[node] = held{r, job}
		return
	case err != nil:
		j.cfg.Log.Warn("a job's document is refused", "job", id, "node", node, "error", err)
		if len(k.docs)+len(k.acts)+len(k.ends)+len(k.ranks) == 0 && k.actor == nil {
			j.drop(id, k)
		}
		return
	}
	delete(k.acts, node)
	j.take1Locked(id, k, node, held{r, job})
}

// take1Locked takes in a document that is proven.
func (j *Jobs) take1Locked(id api.JobID, k *known, node api.NodeID, h held) {
	job, was := h.job, k.docs[node].job
	k.docs[node] = h
	if job.Phase.Ended() && !k.over {
		k.over = true
		j.spawn(func() { j.remembers(id, func(m *Remembered) { m.Ended = true }) })
	}
	defer j.lookAgainLocked(id, k)
	if rid := k.spec.RequestID; rid != "" && k.spec.Principal.Node == j.cfg.Node {
		j.requests[requestKey{k.spec.Principal, rid}] = id
	}
	k.changed()
	if j.loaded {
		defer j.movedLocked(id, was, job)
	}
	switch a := k.actor; {
	case !j.loaded:
	case a == nil:
		j.revive(id, k)
	case node != j.cfg.Node:
		a.notify(phase.Seen{Job: job})
	case a.shown.Load().role != phase.RoleHome:
		a.post(a.regain)
	}
}

// regain begins anew at a node that forgot that it is the job's home, and followed the home
// before until its own document came back.
func (a *actor) regain() {
	if !a.begun || a.state.Role == phase.RoleHome {
		return
	}
	a.j.mu.Lock()
	k := a.j.jobs[a.id]
	isHome := false
	if k != nil && k.actor == a {
		best, found := k.best()
		isHome = found && best.job.Home == a.j.cfg.Node && best.job.Outranks(a.state.Job)
	}
	if isHome {
		k.actor = nil
		a.j.revive(a.id, k)
	}
	a.j.mu.Unlock()
	if isHome {
		a.abandon()
	}
}

// verifyLocked checks whose a job is, and that its home is. What this node wrote it
// had checked; and who has left the cluster since has still asked for what was
// checked before. isAct says that only a person's take-over elsewhere does not bind
// this node.
func (j *Jobs) verifyLocked(k *known, id api.JobID, job api.Job) (isAct bool, err error) {
	was, isThere := k.docs[job.Home]
	again := !job.Phase.Ended() && (isThere && was.job.Phase.Ended() || !k.over && j.memory[id].Ended) // it had ended
	if !sane(job) || again {
		return false, api.NewError(api.ReasonMalformedDocument, id.String())
	}
	spec, cluster := k.spec, k.cluster
	switch {
	case k.checked(job) && !k.anew(job, j.cfg.Node):
	case k.raw != nil && !k.anew(job, j.cfg.Node): // there is one spec of a job, which its home alone signs anew
		return false, api.NewError(api.ReasonSpecAltered, id.String())
	default:
		cluster = j.cfg.Electors.Cluster()
		if spec, err = job.OpenSpec(id, j.cfg.Electors); err != nil && job.Home == j.cfg.Node {
			cluster = ""
			spec, err = decodeSpec(job.Spec)
		}
		if err == nil && spec.Look {
			err = api.NewError(api.ReasonHomeNotProven, id.String())
		}
		if err != nil {
			return false, err
		}
	}
	if job.Home != j.cfg.Node {
		isAct, err = j.provenLocked(spec, job)
	}
	if (k.raw == nil || k.anew(job, j.cfg.Node)) && (err == nil || isAct) {
		k.spec, k.raw, k.sig, k.cluster, k.shown = spec, job.Spec, job.SpecSig, cluster, summed{}
	}
	return isAct, err
}

// stillSigned is nil for a job whose spec was checked and whose signer is a member still:
// an id is its key's, so that what was signed once stays signed.
func (j *Jobs) stillSigned(id api.JobID, job api.Job) error {
	j.mu.Lock()
	k := j.jobs[id]
	wasChecked := k != nil && k.checked(job) && bytes.Equal(k.sig, job.SpecSig)
	j.mu.Unlock()
	if wasChecked && job.SpecSHA256 == api.SpecSHA256(job.Spec) {
		_, err := job.Principal.SignerKey(j.cfg.Electors)
		return err
	}
	_, err := job.OpenSpec(id, j.cfg.Electors)
	return err
}

// checked reports whether a job's spec is the one that was verified.
func (k *known) checked(job api.Job) bool {
	return k.raw != nil && bytes.Equal(k.raw, job.Spec) && job.Principal == k.spec.Principal
}

// anew reports whether a job of this node was signed by it since its spec was verified.
func (k *known) anew(job api.Job, self api.NodeID) bool {
	return k.raw != nil && job.Home == self && !bytes.Equal(k.sig, job.SpecSig)
}

// revive makes an actor for a job that has not ended and has none.
func (j *Jobs) revive(id api.JobID, k *known) {
	best, ok := k.best()
	if !ok || best.job.Phase.Ended() || k.actor != nil {
		return
	}
	a := newActor(j, id)
	k.actor = a
	// Of its own jobs this node makes the actor before the document, or when it starts.
	if j.loaded && best.job.Home == j.cfg.Node { // it lost its database
		wait := forgotWithin
		if phase.TakesUp(best.job) {
			wait = namesWithin
		}
		a.later(wait, a.takeBack)
		return
	}
	b := begin{job: best.job, spec: k.spec, cluster: k.cluster}
	a.post(func() { a.begin(b) })
	for _, n := range writers(k) {
		if n != j.cfg.Node && n != best.job.Home {
			a.notify(phase.Seen{Job: k.docs[n].job})
		}
	}
	for _, d := range k.ranks {
		a.post(func() { a.rankReported(d) })
	}
}

// forgotWithin is how long other homes have to say that they keep a job by now, before one
// that forgot it ends it: such an end counts everywhere.
const forgotWithin = 5 * time.Second

// namesWithin is how long a home that forgot a job that runs waits before it goes on with
// it: what it says of an end stays, and it has to hear first what Macs are called.
const namesWithin = time.Second

// takeBack begins with what is known now of a job that this home forgot.
func (a *actor) takeBack() {
	a.j.mu.Lock()
	k := a.j.jobs[a.id]
	best, found := held{}, false
	b := begin{}
	if k != nil {
		best, found = k.best()
		b = begin{job: best.job, spec: k.spec, cluster: k.cluster, forgot: best.job.Home == a.j.cfg.Node}
	}
	a.j.mu.Unlock()
	if found {
		a.begin(b)
	}
}

// writers are the nodes of which a job has documents.
func writers(k *known) []api.NodeID {
	var all []api.NodeID
	for n := range k.docs {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// absorbRank takes in what a node says of a rank.
func (j *Jobs) absorbRank(r *ledger.Record) {
	ref, err := api.ParseRankRef(r.Key().Name)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.Deleted() {
		if k := j.jobs[ref.Job]; k != nil {
			delete(k.ranks, r.Key())
			k.changed()
		}
		return
	}
	d := rankDoc{record: r}
	if err := r.Decode(&d.rank); err != nil || d.rank.Job != ref.Job || d.rank.Attempt != ref.Attempt || d.rank.Rank != ref.Rank {
		return
	}
	k := j.know(ref.Job)
	old, ok := k.ranks[r.Key()]
	if k.gone || ok && r.Version().Compare(old.record.Version()) <= 0 {
		return
	}
	k.ranks[r.Key()] = d
	if since := d.rank.IdleSince; since != old.rank.IdleSince {
		j.useChangedLocked(k.spec, since)
	}
	k.changed()
	if a := k.actor; a != nil {
		a.post(func() { a.rankReported(d) })
	}
}

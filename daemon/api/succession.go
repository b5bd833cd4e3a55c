package api

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"slices"
)

// Succession is the step by which a node became the home of a job, with the proof
// that it is: exactly one of Offer, Votes and Act. A job's first home needs none: its
// spec names it. See [Job.VerifyHomes].
type Succession struct {
	// Epoch is the epoch that begins; above that of the step before: of an offer in the
	// same term, of votes and acts in a later one. See [TermEpochs].
	Epoch uint64 `json:"epoch"`
	// Home is the home from then on. A home can offer itself a higher epoch, so that an
	// offer that was refused counts no more.
	Home NodeID `json:"home"`
	// Offer is the signature of the home before.
	Offer []byte `json:"offer,omitempty"`
	// Votes are those of more than half of the voters: the members at the roster heads
	// that the spec names.
	Votes []Vote `json:"votes,omitempty"`
	// Act is a person's, who says that the home before is gone.
	Act *Act `json:"act,omitempty"`
}

// Vote is a node's word that it has not heard the home of a job, and that another
// node takes its place. A node gives one for a job and an epoch.
type Vote struct {
	// Node is the voter.
	Node NodeID `json:"node"`
	// Sig is its signature.
	Sig []byte `json:"sig"`
}

// Act is a person's take-over of a job.
type Act struct {
	// By is the person. The signature is by the person's node.
	By Principal `json:"by"`
	// Sig is that node's signature.
	Sig []byte `json:"sig"`
}

// What the signatures of a succession begin with.
const (
	offerContext = "fulmen-offer-1"
	voteContext  = "fulmen-vote-1"
	actContext   = "fulmen-act-1"
)

// Step is what the signatures of one succession cover: a new home for a job of this
// spec, in place of the one before.
type Step struct {
	// Job is the job. Its id is not signed beside the hash of the spec, which holds it.
	Job JobID
	// Cluster and SpecSHA256 say which job it is.
	Cluster    ClusterID
	SpecSHA256 string
	// From is the home before, and Before its epoch.
	From   NodeID
	Before uint64
	// Home is the new home, and Epoch the new epoch.
	Home  NodeID
	Epoch uint64
}

// signing is, big-endian: the context, the cluster id (32 characters), text spec hash,
// text from, 8 bytes before, text home, 8 bytes epoch. Text is 4 bytes of length and the
// bytes.
func (s Step) signing(context string) []byte {
	b := append(append(make([]byte, 0, 256), context...), s.Cluster...)
	b = appendText(appendText(b, s.SpecSHA256), string(s.From))
	b = binary.BigEndian.AppendUint64(b, s.Before)
	b = appendText(b, string(s.Home))
	return binary.BigEndian.AppendUint64(b, s.Epoch)
}

// Offer is the step as the home before makes it, with its key.
func (s Step) Offer(key ed25519.PrivateKey) Succession {
	return Succession{Epoch: s.Epoch, Home: s.Home, Offer: ed25519.Sign(key, s.signing(offerContext))}
}

// Vote is a voter's, with its key.
func (s Step) Vote(voter NodeID, key ed25519.PrivateKey) Vote {
	return Vote{Node: voter, Sig: ed25519.Sign(key, s.signing(voteContext))}
}

// VerifyVote reports whether a vote is for this step.
func (s Step) VerifyVote(v Vote, key ed25519.PublicKey) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, s.signing(voteContext), v.Sig)
}

// Act is the step as a person makes it, with the key of the person's node.
func (s Step) Act(by Principal, key ed25519.PrivateKey) Succession {
	return Succession{Epoch: s.Epoch, Home: s.Home, Act: &Act{By: by, Sig: ed25519.Sign(key, s.actSigning(by))}}
}

func (s Step) actSigning(by Principal) []byte {
	return appendText(s.signing(actContext), by.String())
}

// StepTo is the step from the job's home of now to another one.
func (j *Job) StepTo(cluster ClusterID, id JobID, home NodeID, epoch uint64) Step {
	return Step{Job: id, Cluster: cluster, SpecSHA256: j.SpecSHA256, From: j.Home, Before: j.Epoch, Home: home, Epoch: epoch}
}

// Succeed takes the step to another home. Steps that another copy holds stay as they are.
func (j *Job) Succeed(s Succession) {
	j.Homes = append(slices.Clip(j.Homes), s)
	j.Home, j.Epoch = s.Home, s.Epoch
}

// SteppedJob is a job of a spec as steps alone make it: its home and its epoch are those
// of the last step, which [Job.VerifyHomes] proves.
func SteppedJob(spec JobSpec, sha256 string, homes []Succession) Job {
	j := Job{SpecSHA256: sha256, Home: spec.Home, Epoch: 1, Homes: homes}
	if n := len(homes); n > 0 {
		j.Home, j.Epoch = homes[n-1].Home, homes[n-1].Epoch
	}
	return j
}

// WasHome reports whether a node is or was a home of the job, as its proven steps say.
func (j *Job) WasHome(spec JobSpec, node NodeID) bool {
	return node == spec.Home || slices.ContainsFunc(j.Homes, func(s Succession) bool { return s.Home == node })
}

// Outranks reports whether the job's document counts before another one's: the higher
// epoch, and of one epoch, which two persons can have made at once, the lower home.
func (j *Job) Outranks(other Job) bool {
	return j.Epoch > other.Epoch || j.Epoch == other.Epoch && j.Home < other.Home
}

// Electors tells whose signatures count.
type Electors interface {
	// Cluster is the cluster's id.
	Cluster() ClusterID
	// PublicKey is the key of a member; false for whoever is none.
	PublicKey(NodeID) (ed25519.PublicKey, bool)
	// SignerKey is the key of a member or of a former one: the steps that a node signed
	// while it was a member are still valid after its removal.
	SignerKey(NodeID) (ed25519.PublicKey, bool)
	// Voters are the members at heads of the roster; false where one is not known yet.
	Voters(heads []string) ([]NodeID, bool)
}

// Bounds of what proves a home.
const (
	// MaxSuccessions bounds the steps; a job changes its home once, and then for
	// failures only.
	MaxSuccessions = 64
	maxVotes       = 256

	// TermEpochs is how many epochs a term has. A home's offers stay in its term, votes
	// and acts begin a later one: so a home that was voted out, or replaced by a person,
	// can sign no offer that outranks its successor.
	TermEpochs = 1 << 20
	// maxTerms is how many terms one step may rise, so that no step uses the epochs up.
	maxTerms = 1 << 16
)

// NextTerm is the first epoch of the term after an epoch's.
func NextTerm(epoch uint64) uint64 { return (epoch/TermEpochs + 1) * TermEpochs }

// BeginsTerm reports whether the step's epoch is one for votes or an act.
func (s Step) BeginsTerm() bool {
	first := NextTerm(s.Before)
	return s.Epoch >= first && s.Epoch < first+maxTerms*TermEpochs
}

// VerifyHomes checks that the job's home and epoch follow from its spec, whose
// signature was checked before: each step is proven. Acts of persons count everywhere
// only with the signature of the submitter's node; the others are given to may, nil
// refusing all: whether the person's act on that step binds this node.
func (j *Job) VerifyHomes(spec JobSpec, e Electors, may func(Step, Act) bool) error {
	bad := func(format string, args ...any) error {
		return Errorf(ReasonHomeNotProven, string(spec.Job), format, args...)
	}
	if len(j.Homes) > MaxSuccessions {
		return bad("The job %s has changed its home %d times; at most %d are taken.", spec.Job, len(j.Homes), MaxSuccessions)
	}
	home, epoch := spec.Home, uint64(1)
	for _, s := range j.Homes {
		step := Step{Job: spec.Job, Cluster: e.Cluster(), SpecSHA256: j.SpecSHA256, From: home, Before: epoch, Home: s.Home, Epoch: s.Epoch}
		follows := step.BeginsTerm()
		if s.Offer != nil {
			follows = s.Epoch > epoch && s.Epoch < NextTerm(epoch)
		}
		if !follows || !s.Home.Valid() {
			return bad("Epoch %d of %s does not follow epoch %d.", s.Epoch, spec.Job, epoch)
		}
		if err := s.verify(step, spec, e, may); err != nil {
			return bad("That %s is the home of %s is not proven: %v", s.Home.Display(), spec.Job, err)
		}
		home, epoch = s.Home, s.Epoch
	}
	if home != j.Home || epoch != j.Epoch {
		return bad("%s claims to be the home of %s at epoch %d; proven is %s at epoch %d.", j.Home.Display(), spec.Job, j.Epoch, home.Display(), epoch)
	}
	return nil
}

func (s Succession) verify(step Step, spec JobSpec, e Electors, may func(Step, Act) bool) error {
	signed := func(by NodeID, message, sig []byte) bool {
		key, ok := e.SignerKey(by)
		return ok && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, sig)
	}
	switch {
	case s.Offer != nil && s.Votes == nil && s.Act == nil:
		if !signed(step.From, step.signing(offerContext), s.Offer) {
			return Errorf(ReasonBadSignature, string(step.From), "%s did not offer it.", step.From.Display())
		}
	case s.Votes != nil && s.Offer == nil && s.Act == nil:
		voters, known := e.Voters(spec.Roster)
		if !known {
			return Errorf(ReasonHomeNotProven, "", "the roster that its spec names is not known here yet.")
		}
		if n := countVotes(step, s.Votes, voters, e.SignerKey); n*2 <= len(voters) {
			return Errorf(ReasonNoMajority, "", "%d of %d voters voted for it.", n, len(voters))
		}
	case s.Act != nil && s.Offer == nil && s.Votes == nil:
		by := s.Act.By
		if by.Node != step.Home && by.Node != spec.Principal.Node || !signed(by.Node, step.actSigning(by), s.Act.Sig) {
			return Errorf(ReasonBadSignature, by.String(), "it was not taken over by a person of the new home or of the submitter's node.")
		}
		if by.Node != spec.Principal.Node && (may == nil || !may(step, *s.Act)) {
			return Errorf(ReasonHomeNotProven, by.String(), "the take-over by %s counts on %s only.", by, by.Node.Display())
		}
	default:
		return Errorf(ReasonMalformedDocument, "", "it has no proof, or more than one.")
	}
	return nil
}

// countVotes counts the voters whose vote for a step is there.
func countVotes(step Step, votes []Vote, voters []NodeID, key func(NodeID) (ed25519.PublicKey, bool)) int {
	mayVote := map[NodeID]bool{}
	for _, v := range voters {
		mayVote[v] = true
	}
	n := 0
	for i, v := range votes {
		if i >= maxVotes || !mayVote[v.Node] {
			continue
		}
		delete(mayVote, v.Node) // one each
		if k, ok := key(v.Node); ok && step.VerifyVote(v, k) {
			n++
		}
	}
	return n
}

// fieldHomes is the envelope's field of a deleted job's document that proves its
// writer.
const fieldHomes = "homes"

// SetHomes notes in a deleted job's document how its writer was the job's home.
func (d *Document) SetHomes(homes []Succession) error {
	if len(homes) == 0 {
		return nil
	}
	raw, err := json.Marshal(homes)
	d.Extra = map[string]json.RawMessage{fieldHomes: raw}
	return err
}

// Homes are those steps; none where the writer is the first home.
func (d *Document) Homes() (homes []Succession) {
	if raw, ok := d.Extra[fieldHomes]; ok && json.Unmarshal(raw, &homes) != nil {
		return nil
	}
	return homes
}

package api

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// SpecSigningBytes is what the signature of a job's spec covers:
// "fulmen-spec-2", the cluster id (32 characters), 4 bytes of big-endian
// length, and the spec's exact bytes.
func SpecSigningBytes(cluster ClusterID, spec json.RawMessage) []byte {
	b := make([]byte, 0, len(SpecContext)+ClusterIDLength+4+len(spec))
	return appendText(append(append(b, SpecContext...), cluster...), string(spec))
}

// SpecSHA256 is the hash by which plans and ranks name a spec, lower-case hex.
func SpecSHA256(spec json.RawMessage) string {
	sum := sha256.Sum256(spec)
	return hex.EncodeToString(sum[:])
}

// SignSpec encodes a spec in the stable form and signs it with the key of the
// principal's node.
func SignSpec(cluster ClusterID, key ed25519.PrivateKey, spec JobSpec) (raw json.RawMessage, sig []byte, err error) {
	if NodeIDFromKey(key.Public().(ed25519.PublicKey)) != spec.Principal.Node {
		return nil, nil, NewError(ReasonNotTheWriter, spec.Principal.String())
	}
	if raw, err = json.Marshal(spec); err != nil {
		return nil, nil, err
	}
	return raw, ed25519.Sign(key, SpecSigningBytes(cluster, raw)), nil
}

// VerifySpec checks that the job's spec is whole, that the key of its
// principal's node signed it, and that the document's copies of its fields and
// hash fit. It returns the spec.
func (j *Job) VerifySpec(cluster ClusterID, key ed25519.PublicKey) (JobSpec, error) {
	var spec JobSpec
	if CheckStable(j.Spec) != nil || json.Unmarshal(j.Spec, &spec) != nil {
		return JobSpec{}, NewError(ReasonSpecAltered, string(spec.Job))
	}
	switch {
	case j.SpecSHA256 != SpecSHA256(j.Spec), j.Principal != spec.Principal,
		len(key) != ed25519.PublicKeySize, NodeIDFromKey(key) != spec.Principal.Node,
		!ed25519.Verify(key, SpecSigningBytes(cluster, j.Spec), j.SpecSig):
		return JobSpec{}, NewError(ReasonSpecAltered, string(spec.Job))
	}
	return spec, nil
}

// SignerKey is the key of the node that vouches for a person's specs: a member's.
func (p Principal) SignerKey(e Electors) (ed25519.PublicKey, error) {
	key, ok := e.PublicKey(p.Node)
	if !ok {
		return nil, Errorf(ReasonNotAMember, p.Node.String(), "The node %s, which vouches for %s, is not a member of this cluster.", p.Node.Display(), p)
	}
	return key, nil
}

// OpenSpec verifies a warrant's spec: by the key of the member who vouches for its
// principal, and for this job. It returns the spec.
func (w Warrant) OpenSpec(job JobID, e Electors) (JobSpec, error) {
	var named struct {
		Principal Principal `json:"principal"`
	}
	if len(w.Spec) > MaxSpecBytes || json.Unmarshal(w.Spec, &named) != nil {
		return JobSpec{}, NewError(ReasonSpecAltered, string(job))
	}
	key, err := named.Principal.SignerKey(e)
	if err != nil {
		return JobSpec{}, err
	}
	signed := Job{Spec: w.Spec, SpecSig: w.SpecSig, SpecSHA256: SpecSHA256(w.Spec), Principal: named.Principal}
	spec, err := signed.VerifySpec(e.Cluster(), key)
	if err == nil && (spec.Job != job || !spec.Home.Valid()) {
		err = NewError(ReasonSpecAltered, string(job))
	}
	return spec, err
}

// OpenSpec verifies the job's spec as [Warrant.OpenSpec] does, and that the document
// says of it what is so.
func (j *Job) OpenSpec(id JobID, e Electors) (JobSpec, error) {
	spec, err := j.Warrant().OpenSpec(id, e)
	if err == nil && (j.SpecSHA256 != SpecSHA256(j.Spec) || j.Principal != spec.Principal) {
		err = NewError(ReasonSpecAltered, string(id))
	}
	return spec, err
}

// MayStart refuses a spec by which nothing is started any more, or not yet.
func (s JobSpec) MayStart(now Time) error {
	lifetime := s.ExpiresAt.Sub(s.SubmittedAt.Time)
	expired := lifetime <= 0 || lifetime > SpecLifetime || now.Sub(s.ExpiresAt.Time) > ClockTolerance
	if s.Kept {
		expired = !s.ExpiresAt.IsZero()
	}
	if expired || s.SubmittedAt.Sub(now.Time) > ClockTolerance {
		return NewError(ReasonSpecExpired, string(s.Job))
	}
	return nil
}

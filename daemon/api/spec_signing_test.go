package api

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestOpenSpec(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	spec := JobSpec{
		Job: homesJob, Principal: Principal{User: "ada", Node: testNode(1)}, Home: testNode(2), Roster: []string{"x"},
		SubmittedAt: TimeOf(at), ExpiresAt: TimeOf(at.Add(time.Hour)),
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	without := func(field string) json.RawMessage {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, field)
		out, _ := json.Marshal(fields)
		return out
	}
	tests := []struct {
		name    string
		raw     json.RawMessage
		cluster ClusterID
		signer  byte
		changed func(json.RawMessage) json.RawMessage // after it was signed
		want    error
	}{
		{name: "as signed", raw: raw},
		{name: "another cluster's", raw: raw, cluster: "fedcba9876543210fedcba9876543210", want: ReasonSpecAltered},
		{name: "signed by another member", raw: raw, signer: 2, want: ReasonSpecAltered},
		{name: "for another principal", raw: raw, want: ReasonSpecAltered, changed: func(b json.RawMessage) json.RawMessage {
			return bytes.Replace(b, []byte("ada@"), []byte("eve@"), 1)
		}},
		{name: "with a space", raw: raw, want: ReasonSpecAltered, changed: func(b json.RawMessage) json.RawMessage { return append(b, ' ') }},
		{name: "of another job", raw: bytes.Replace(raw, []byte(homesJob), []byte("j4k2m9xq8"), 1), want: ReasonSpecAltered},
		{name: "of a principal of no member", raw: bytes.Replace(raw, []byte(testNode(1)), []byte(testNode(9)), 1), want: ReasonNotAMember},
		{name: "without a principal", raw: without("principal"), want: ReasonNotAMember},
		{name: "without a home", raw: without("home"), want: ReasonSpecAltered},
		{name: "no spec", raw: json.RawMessage("[]"), want: ReasonSpecAltered},
		{name: "too long", raw: bytes.Replace(raw, []byte(`"roster":["x"]`), longRoster(MaxSpecBytes), 1), want: ReasonSpecAltered},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			cluster, signer := homesCluster, byte(1)
			if test.cluster != "" {
				cluster = test.cluster
			}
			if test.signer != 0 {
				signer = test.signer
			}
			w := Warrant{Spec: test.raw, SpecSig: ed25519.Sign(testKey(signer), SpecSigningBytes(cluster, test.raw))}
			if test.changed != nil {
				w.Spec = test.changed(bytes.Clone(w.Spec))
			}
			got, err := w.OpenSpec(homesJob, electors(8))
			is.True(errors.Is(err, test.want) && (err == nil) == (test.want == nil))
			if err == nil {
				is.Equal(got, spec)
			}
		})
	}
}

// longRoster is a roster with one head that is too long.
func longRoster(n int) []byte {
	return []byte(`"roster":["` + string(bytes.Repeat([]byte("x"), n)) + `"]`)
}

// TestVerifySpecKey: the key must be that of the principal's node, whoever signed.
func TestVerifySpecKey(t *testing.T) {
	is := is.New(t)
	raw, err := json.Marshal(JobSpec{Job: homesJob, Principal: Principal{User: "ada", Node: testNode(1)}, Home: testNode(2), SubmittedAt: TimeOf(time.Unix(0, 0)), ExpiresAt: TimeOf(time.Unix(1, 0))})
	is.NoErr(err)
	j := Job{Spec: raw, SpecSHA256: SpecSHA256(raw), Principal: Principal{User: "ada", Node: testNode(1)}}
	for signer, want := range map[byte]error{1: nil, 2: ReasonSpecAltered} {
		j.SpecSig = ed25519.Sign(testKey(signer), SpecSigningBytes(homesCluster, raw))
		_, err = j.VerifySpec(homesCluster, testKey(signer).Public().(ed25519.PublicKey))
		is.True(errors.Is(err, want) && (err == nil) == (want == nil))
	}
	_, err = j.VerifySpec(homesCluster, nil)
	is.True(errors.Is(err, ReasonSpecAltered))
}

func TestMayStart(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name             string
		submitted, until time.Duration // from now
		may              bool
	}{
		{"just submitted", 0, time.Hour, true},
		{"for as long as may be", 0, SpecLifetime, true},
		{"for longer", 0, SpecLifetime + time.Millisecond, false},
		{"for no time", 0, 0, false},
		{"until before it was submitted", time.Minute, -time.Minute, false},
		{"until just now", -time.Hour, -ClockTolerance, true},
		{"until before", -time.Hour, -ClockTolerance - time.Millisecond, false},
		{"by a clock that is a little ahead", ClockTolerance, time.Hour, true},
		{"by a clock that is ahead", ClockTolerance + time.Millisecond, time.Hour, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := JobSpec{SubmittedAt: TimeOf(now.Add(test.submitted)), ExpiresAt: TimeOf(now.Add(test.until))}
			if err := spec.MayStart(TimeOf(now)); (err == nil) != test.may {
				t.Errorf("%v", err)
			}
			// One that is kept has no expiry, and starts what was not submitted in the future.
			spec.Kept = true
			if spec.MayStart(TimeOf(now)) == nil {
				t.Error("a kept spec has an expiry")
			}
			spec.ExpiresAt = Time{}
			if err := spec.MayStart(TimeOf(now)); (err == nil) != (test.submitted <= ClockTolerance) {
				t.Errorf("kept: %v", err)
			}
			spec.Kept = false
			if spec.MayStart(TimeOf(now)) == nil {
				t.Error("neither kept nor with an expiry")
			}
		})
	}
}

package api

import (
	"encoding/json"
	"testing"
)

// fuzzID asks of any input that a parser either refuses it or gives something
// valid whose wire form is a fixed point.
func fuzzID[T interface {
	comparable
	Valid() bool
	String() string
}](f *testing.F, parse func(string) (T, error), seeds ...string) {
	for _, s := range append(seeds, "", "/", "~", "@", ":", "-") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := parse(s)
		if err != nil {
			return
		}
		if !v.Valid() {
			t.Fatalf("%q gave the invalid %q", s, v)
		}
		back, err := parse(v.String())
		if err != nil || back != v || back.String() != v.String() {
			t.Fatalf("%q: %q does not read back: %q, %v", s, v, back, err)
		}
		raw, err := json.Marshal(v)
		if err != nil || string(raw) != `"`+v.String()+`"` && json.Unmarshal(raw, &back) != nil {
			t.Fatalf("%q: JSON %s, %v", s, raw, err)
		}
	})
}

func FuzzParseNodeID(f *testing.F) {
	fuzzID(f, ParseNodeID, testNode(1).Display(), testNode(2).String())
}

func FuzzParseClusterID(f *testing.F) {
	fuzzID(f, ParseClusterID, "A7937b64b8caa58f03721bb6bacf5c78")
}

func FuzzParseJobID(f *testing.F) { fuzzID(f, ParseJobID, "j4k2m9xq7", "JOiL09xq7") }

func FuzzParseMeasureID(f *testing.F) { fuzzID(f, ParseMeasureID, "m4k2m9xq7") }

func FuzzParseRankRef(f *testing.F) { fuzzID(f, ParseRankRef, "j4k2m9xq7/2/0") }

func FuzzParseLinkEnd(f *testing.F) { fuzzID(f, ParseLinkEnd, string(testNode(1))+":3") }

func FuzzParseLinkID(f *testing.F) {
	fuzzID(f, ParseLinkID, string(testNode(1))+":3~"+string(testNode(2))+":1")
}

func FuzzParsePrincipal(f *testing.F) { fuzzID(f, ParsePrincipal, "anna@"+string(testNode(1))) }

func FuzzParsePeerAddress(f *testing.F) {
	fuzzID(f, ParsePeerAddress, string(testNode(1))+"/10.0.0.7", string(testNode(1))+"/fe80::1%en5")
}

func FuzzParsePort(f *testing.F) {
	for _, s := range []string{"1", "255", "0", "007", "+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParsePortNumber(s); err == nil && (r == 0 || r.String() != s) {
			t.Fatalf("%q gave %d", s, r)
		}
	})
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"2026-11-21T11:00:00.007Z", "2026-11-21T11:00:00+01:00", "0000-01-01T00:00:00+23:59"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := ParseTime(s)
		if err != nil {
			return
		}
		var back Time
		if err := back.UnmarshalText([]byte(at.String())); err != nil || !back.Equal(at.Time) {
			t.Fatalf("%q: %s reads back as %s, %v", s, at, back, err)
		}
	})
}

// What passes Check survives being sent on, byte for byte, and its signature
// covers the same bytes afterwards.
func FuzzDocument(f *testing.F) {
	for _, kind := range Kinds() {
		raw, err := json.Marshal(sampleDocument(kind))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	for _, seed := range []string{
		`{"node":"x","value":{"a":"<"},"next":[1]}`,
		`{}`, `null`, `{"node":"` + string(testNode(1)) + `","kind":"memory","name":"","inc":1,"seq":2,"at":"2026-01-02T03:04:05.678Z","value":{"a":1},"sig":"AAEC"}`,
		`{"kind":"x","later":{"b":[1]},"unknown":{"a":"b"},"simulated":true,"deleted":true}`, `{"name":"a\u0062"}`, `{"n\u0061me":"a"}`, `{"name":"a","name":null}`,
		`{"inc":-1}`, `{"inc":1e3}`, `{"at":null}`, `{"sig":"A\u0041=="}`, `{"sig":"?"}`, `{"node":null,"kind":null,"value":null}`, `{"é":1}`, `[]`, `{"a":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d, back Document
		if json.Unmarshal(raw, &d) != nil || d.Check() != nil {
			return
		}
		sent, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(sent, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(sent) || string(back.Value) != string(d.Value) {
			t.Fatalf("sent %s, sent on %s, %v", sent, again, err)
		}
		const cluster = "a7937b64b8caa58f03721bb6bacf5c78"
		if string(back.SigningBytes(cluster)) != string(d.SigningBytes(cluster)) {
			t.Fatalf("%s: the signed bytes changed", sent)
		}
	})
}

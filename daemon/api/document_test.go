package api

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func goodDocument() Document {
	return Document{Node: testNode(1), Kind: KindMemory, Inc: 1, Seq: 7, At: sampleTime(), Value: json.RawMessage(`{"a":1}`),
		Unknown: map[string]Reason{"b": ReasonNeedsRoot}}
}

// A newer version's kind, envelope field and value field pass through an older
// node unchanged, byte for byte, and stay verifiable.
func TestUnknownIsKeptAndPassedOn(t *testing.T) {
	is := is.New(t)
	d := goodDocument()
	d.Kind, d.Name = "next-kind", "any/name"
	d.Value = json.RawMessage(`{"z":1.50,"a":[1e3,"\u003c","é"],"deep":{"new":null}}`)
	d.Extra = map[string]json.RawMessage{"ttl_s": json.RawMessage(`60.0`), "hints": json.RawMessage(`{"b":1,"a":[]}`)}
	is.NoErr(d.Sign(sampleCluster, testKey(1)))
	sent, err := json.Marshal(struct {
		Docs []Document `json:"docs"`
	}{[]Document{d}})
	is.NoErr(err)
	is.True(strings.Contains(string(sent), `"value":`+string(d.Value)+`,`)) // never encoded again
	is.True(strings.HasSuffix(string(sent), `,"hints":{"b":1,"a":[]},"ttl_s":60.0}]}`))

	var got struct {
		Docs []Document `json:"docs"`
	}
	is.NoErr(json.Unmarshal(sent, &got))
	is.NoErr(got.Docs[0].Verify(sampleCluster, publicKey(1)))
	again, err := json.Marshal(got)
	is.NoErr(err)
	is.Equal(string(again), string(sent))

	var m Memory
	d = goodDocument()
	d.Value = json.RawMessage(`{"total_bytes":5,"newer":true}`)
	is.NoErr(d.Decode(&m)) // a reader skips what it does not know
	is.Equal(*m.TotalBytes, int64(5))
}

// The order and spacing of the JSON around the value do not matter.
func TestEnvelopeOrderDoesNotMatter(t *testing.T) {
	is := is.New(t)
	d := goodDocument()
	is.NoErr(d.Sign(sampleCluster, testKey(1)))
	sent, err := json.Marshal(d)
	is.NoErr(err)
	var fields map[string]json.RawMessage
	is.NoErr(json.Unmarshal(sent, &fields))
	shuffled := []string{}
	for name, raw := range fields {
		shuffled = append(shuffled, `"`+name+`" : `+string(raw))
	}
	var got Document
	is.NoErr(json.Unmarshal([]byte("{ "+strings.Join(shuffled, " , ")+" }"), &got))
	is.NoErr(got.Verify(sampleCluster, publicKey(1)))
}

// Nothing that is signed can be changed.
func TestSignatureCoversEverything(t *testing.T) {
	changes := map[string]func(*Document){
		"kind":           func(d *Document) { d.Kind = KindSystem },
		"name":           func(d *Document) { d.Kind, d.Name = "next", "x" },
		"inc":            func(d *Document) { d.Inc++ },
		"seq":            func(d *Document) { d.Seq++ },
		"at":             func(d *Document) { d.At = TimeOf(d.At.AddDate(0, 0, 1)) },
		"value":          func(d *Document) { d.Value = json.RawMessage(`{"a":2}`) },
		"value spelling": func(d *Document) { d.Value = json.RawMessage(`{"a":1.0}`) },
		"unknown field":  func(d *Document) { d.Unknown = map[string]Reason{"c": ReasonNeedsRoot} },
		"unknown reason": func(d *Document) { d.Unknown = map[string]Reason{"b": ReasonNotYetRead} },
		"unknown gone":   func(d *Document) { d.Unknown = nil },
		"simulated":      func(d *Document) { d.Simulated = true },
		"deleted":        func(d *Document) { d.Deleted, d.Value = true, nil },
		"extra":          func(d *Document) { d.Extra = map[string]json.RawMessage{"x": json.RawMessage("1")} },
		"signature":      func(d *Document) { d.Sig[0] ^= 1 },
		"no signature":   func(d *Document) { d.Sig = nil },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := goodDocument()
			is.NoErr(d.Sign(sampleCluster, testKey(1)))
			is.NoErr(d.Verify(sampleCluster, publicKey(1)))
			change(&d)
			is.True(AsError(d.Verify(sampleCluster, publicKey(1))).Is(ReasonBadSignature))
		})
	}
	is := is.New(t)
	d := goodDocument()
	is.NoErr(d.Sign(sampleCluster, testKey(1)))
	is.True(AsError(d.Verify(ClusterIDFromEntry([]byte("other")), publicKey(1))).Is(ReasonBadSignature)) // another cluster
	is.True(AsError(d.Verify(sampleCluster, publicKey(2))).Is(ReasonNotTheWriter))
	is.True(AsError(d.Verify(sampleCluster, nil)).Is(ReasonNotTheWriter))
	is.True(AsError(d.Sign(sampleCluster, testKey(2))).Is(ReasonNotTheWriter))
}

func TestCheckDocument(t *testing.T) {
	is.New(t).NoErr(func() error { d := goodDocument(); return d.Check() }())
	for name, change := range map[string]func(*Document){
		"no node":                func(d *Document) { d.Node = "" },
		"kind with capital":      func(d *Document) { d.Kind = "Memory" },
		"kind with underline":    func(d *Document) { d.Kind = "gpu_profile" },
		"no kind":                func(d *Document) { d.Kind = "" },
		"name of a kind without": func(d *Document) { d.Name = "x" },
		"name with a space":      func(d *Document) { d.Kind, d.Name = "next", "a b" },
		"name with newline":      func(d *Document) { d.Kind, d.Name = "next", "a\nb" },
		"name too long":          func(d *Document) { d.Kind, d.Name = "next", strings.Repeat("a", MaxNameLength+1) },
		"inc 0":                  func(d *Document) { d.Inc = 0 },
		"seq 0":                  func(d *Document) { d.Seq = 0 },
		"seq too large":          func(d *Document) { d.Seq = MaxCounter + 1 },
		"no time":                func(d *Document) { d.At = Time{} },
		"no value":               func(d *Document) { d.Value = nil },
		"deleted with value":     func(d *Document) { d.Deleted = true },
		"value no object":        func(d *Document) { d.Value = json.RawMessage(`[1]`) },
		"value not JSON":         func(d *Document) { d.Value = json.RawMessage(`{"a"}`) },
		"value with space":       func(d *Document) { d.Value = json.RawMessage(`{"a": 1}`) },
		"value with <":           func(d *Document) { d.Value = json.RawMessage(`{"a":"<"}`) },
		"value not UTF-8":        func(d *Document) { d.Value = json.RawMessage("{\"a\":\"\xff\"}") },
		"value too large":        func(d *Document) { d.Value = json.RawMessage(`{"a":"` + strings.Repeat("a", MaxValueBytes) + `"}`) },
		"bad reason":             func(d *Document) { d.Unknown = map[string]Reason{"a": "No Reason"} },
		"bad unknown field":      func(d *Document) { d.Unknown = map[string]Reason{"a b": ReasonNeedsRoot} },
		"bad extra name":         func(d *Document) { d.Extra = map[string]json.RawMessage{`a"b`: json.RawMessage("1")} },
		"bad extra value":        func(d *Document) { d.Extra = map[string]json.RawMessage{"a": json.RawMessage("1 ")} },
	} {
		t.Run(name, func(t *testing.T) {
			d := goodDocument()
			change(&d)
			if err := d.Check(); AsError(err) == nil || AsError(err).Code == CodeInternal {
				t.Errorf("not refused: %v", err)
			} else if tooLarge := len(d.Value) > MaxValueBytes; errors.Is(err, ReasonDocumentTooLarge) != tooLarge {
				t.Errorf("refused as %v", err)
			}
		})
	}
}

func TestNameRules(t *testing.T) {
	a, b := string(testNode(1)), string(testNode(2))
	good := map[NameRule][]string{
		NameEmpty: {""}, NamePortNumber: {"1", "12"}, NameLink: {sampleLink().String()},
		NamePeerAddress: {a + "/10.0.0.7", a + "/fe80::1%en5"}, NamePath: {a + "/10.0.0.7", sampleLink().String()},
		NameJob: {"j4k2m9xq7"}, NameRank: {"j4k2m9xq7/1/0"}, NameHolder: {"j4k2m9xq7/1/0", "m4k2m9xq7"},
		NameCondition: {"link_too_slow", "link_too_slow/" + sampleLink().String()}, NameNode: {a},
	}
	bad := map[NameRule][]string{
		NameEmpty: {"x"}, NamePortNumber: {"", "0", "01"}, NameLink: {"", a, b + ":3"},
		NamePeerAddress: {"", a, testNode(1).Display() + "/10.0.0.7", a + "/010.0.0.7"}, NamePath: {"", a, "~"},
		NameJob: {"", "J4K2M9XQ7", "j4k2m9xq7/1"}, NameRank: {"", "j4k2m9xq7", "j4k2m9xq7/0/0"}, NameHolder: {"", "x", "m4k2m9xq7/1"},
		NameCondition: {"", "Link", "link_", "link/", "link__slow", "_link"}, NameNode: {"", testNode(1).Display()},
		"no such rule": {""},
	}
	for _, rule := range NameRule("").Values() {
		if len(good[NameRule(rule)]) == 0 || len(bad[NameRule(rule)]) == 0 {
			t.Errorf("%s has no example", rule)
		}
	}
	for rule, names := range good {
		for _, name := range names {
			is.New(t).NoErr(rule.Check(name))
		}
	}
	for rule, names := range bad {
		for _, name := range names {
			if rule.Check(name) == nil {
				t.Errorf("%s took %q", rule, name)
			}
		}
	}
}

func TestVersionCompare(t *testing.T) {
	is := is.New(t)
	ordered := []Version{{1, 1}, {1, 2}, {2, 1}, {2, 9}, {3, 0}}
	for i, v := range ordered {
		for j, o := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			is.Equal(v.Compare(o), want)
		}
	}
}

func TestVerifySpec(t *testing.T) {
	spec := sample[JobSpec]()
	good := func() *Job {
		raw, sig, err := SignSpec(sampleCluster, testKey(1), spec)
		is.New(t).NoErr(err)
		return &Job{Spec: raw, SpecSig: sig, SpecSHA256: SpecSHA256(raw), Principal: spec.Principal}
	}
	is := is.New(t)
	got, err := good().VerifySpec(sampleCluster, publicKey(1))
	is.NoErr(err)
	is.Equal(got.Program, spec.Program)
	for name, change := range map[string]func(*Job){
		"other spec":      func(j *Job) { j.Spec = json.RawMessage(strings.Replace(string(j.Spec), "anna", "otto", 1)) },
		"other hash":      func(j *Job) { j.SpecSHA256 = SpecSHA256(nil) },
		"other principal": func(j *Job) { j.Principal.User = "otto" },
		"other signature": func(j *Job) { j.SpecSig[3] ^= 1 },
		"no spec":         func(j *Job) { j.Spec = nil },
	} {
		t.Run(name, func(t *testing.T) {
			j := good()
			change(j)
			_, err := j.VerifySpec(sampleCluster, publicKey(1))
			if !AsError(err).Is(ReasonSpecAltered) {
				t.Errorf("%v", err)
			}
		})
	}
	_, _, err = SignSpec(sampleCluster, testKey(2), spec) // a node cannot vouch for another's user
	is.True(AsError(err).Is(ReasonNotTheWriter))
	_, err = good().VerifySpec(sampleCluster, publicKey(2))
	is.True(AsError(err).Is(ReasonSpecAltered))
}

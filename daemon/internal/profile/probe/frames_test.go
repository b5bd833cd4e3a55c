package probe

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"

	"github.com/matryer/is"
)

// A proof holds for nothing but what it was made for.
func TestProof(t *testing.T) {
	is := is.New(t)
	made := func() bond {
		return bond{
			measurement: m1, measurer: laptop, measured: studio, sink: studioAt, token: drawn(0), purpose: forUp, stream: 1,
			challenge: make([]byte, nonceBytes), nonce: make([]byte, nonceBytes),
		}
	}
	b := made()
	seen := map[string]bool{string(b.dialled()): true, string(b.answered()): true}
	is.Equal(len(seen), 2)
	for _, change := range []func(b *bond){
		func(b *bond) { b.measurement = "m00000002" },
		func(b *bond) { b.measurer = third },
		func(b *bond) { b.measured = third },
		func(b *bond) { b.sink = netip.MustParseAddr("169.254.1.3") },
		func(b *bond) { b.token = []byte{1} },
		func(b *bond) { b.purpose = forDown },
		func(b *bond) { b.stream = 2 },
		func(b *bond) { b.challenge[0]++ },
		func(b *bond) { b.nonce[0]++ },
		func(b *bond) { b.token, b.purpose = []byte("u"), "p" }, // what is in one field is not in the next
	} {
		b := made()
		change(&b)
		for _, text := range [][]byte{b.dialled(), b.answered()} {
			is.True(!seen[string(text)])
			seen[string(text)] = true
		}
	}
	signature := ed25519.Sign(key(laptop), b.dialled())
	public, _ := members(laptop)
	is.True(ed25519.Verify(public, b.dialled(), signature))
	is.True(bytes.HasPrefix(b.dialled(), []byte(proofPrefix)))
}

func TestFrames(t *testing.T) {
	is := is.New(t)
	e := echo{number: 7, resent: 9}
	is.Equal(len(e.bytes()), echoBytes)
	var back echo
	is.NoErr(back.read(e.bytes()))
	is.Equal(back, e)
	for _, bad := range []string{
		``, `null`, `{}`, `[]`, `{"say":"count","bytes":-1}`, `{"say":"count","at_us":-1}`, `{"say":"stop"}`, `{"say":"stop","way":"control"}`, `{"say":"x"}`,
	} {
		var w message
		is.True(w.read([]byte(bad)) != nil)
	}
}

// What is not a frame is refused, and what is one stays what it is.
func FuzzFrames(f *testing.F) {
	proof := make([]byte, proofBytes)
	for _, seed := range []any{
		hello{Purpose: forUp, Stream: 3, Nonce: make([]byte, nonceBytes), Proof: proof}, welcome{Proof: proof}, welcome{Refused: "probe_token_invalid"},
		message{Kind: kindCount, Bytes: 1 << 40, AtUS: 1 << 62}, message{Kind: kindStop, Way: forDown}, message{Kind: kindEcho},
	} {
		data, err := json.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(echo{number: 1}.bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		again(t, data, new(hello), new(hello))
		again(t, data, new(welcome), new(welcome))
		again(t, data, new(message), new(message))
		var e echo
		if e.read(data) == nil && !bytes.Equal(e.bytes()[:16], data[:16]) {
			t.Fatal("another echo")
		}
		var w message
		if w.read(data) == nil && w.count().at < 0 {
			t.Fatal("a time before the first byte")
		}
	})
}

type readable interface{ read(data []byte) error }

func again(t *testing.T, data []byte, first, second readable) {
	t.Helper()
	if first.read(data) != nil {
		return
	}
	out, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.read(out); err != nil || !reflect.DeepEqual(first, second) {
		t.Fatalf("%s became %s: %v", data, out, err)
	}
}

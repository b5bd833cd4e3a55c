package api

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/nativetest/testkit"
)

// testKey is a fixed key, so that golden files stay the same.
func testKey(n byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = n + byte(i)
	}
	return ed25519.NewKeyFromSeed(seed)
}

func testNode(n byte) NodeID {
	return NodeIDFromKey(testKey(n).Public().(ed25519.PublicKey))
}

func TestNodeIDVector(t *testing.T) {
	is := is.New(t)
	key := make(ed25519.PublicKey, ed25519.PublicKeySize)
	for i := range key {
		key[i] = byte(i)
	}
	// Computed apart: SHA-256 of these bytes begins 630dcd2966c433669112.
	is.Equal(NodeIDFromKey(key), NodeID("cc6wtab6rgspd48n"))
	is.Equal(NodeIDFromKey(key).Display(), "cc6w-tab6-rgsp-d48n")
}

// Every wrong character and every swap of two characters is found, in ids that
// exercise every place with every value.
func TestNodeIDCheckFindsErrors(t *testing.T) {
	is := is.New(t)
	rng := testkit.Fixed(t, 1).Source(2)
	ids := []NodeID{testNode(1), testNode(2)}
	for range 300 {
		body := make([]byte, 15)
		for i := range body {
			body[i] = Crockford[rng.IntN(32)]
		}
		ids = append(ids, NodeID(string(body)+string(Crockford[nodeIDCheck(string(body))])))
	}
	for _, id := range ids {
		is.True(id.Valid()) // what the algorithm makes, it accepts
		for i := range NodeIDLength {
			for v := range 32 {
				b := []byte(id)
				b[i] = Crockford[v]
				is.Equal(NodeID(b).Valid(), string(b) == string(id)) // one character wrong
			}
			for j := range i {
				b := []byte(id)
				b[i], b[j] = b[j], b[i]
				is.Equal(NodeID(b).Valid(), b[i] == b[j]) // two characters swapped
			}
		}
	}
}

// The proof behind the test above: all weights are different and none is zero.
func TestNodeIDWeights(t *testing.T) {
	is := is.New(t)
	seen := map[int]bool{0: true}
	w := 1
	for range NodeIDLength {
		is.True(!seen[w])
		seen[w] = true
		w = timesTwo(w)
	}
	is.True(!NodeID(strings.Repeat("0", NodeIDLength)).Valid()) // a row of zeros is no id
}

func TestParseNodeID(t *testing.T) {
	id := testNode(1)
	mapped := strings.NewReplacer("0", "O", "1", "L")
	for _, tt := range []struct{ name, in string }{
		{"wire", id.String()},
		{"display", id.Display()},
		{"upper case", strings.ToUpper(id.Display())},
		{"look-alikes", mapped.Replace(strings.ToUpper(id.String()))},
		{"spaces", " " + strings.ReplaceAll(id.Display(), "-", " ") + " "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			got, err := ParseNodeID(tt.in)
			is.NoErr(err)
			is.Equal(got, id)
		})
	}
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "has 0 characters"},
		{"short", id.String()[:15], "has 15 characters"},
		{"foreign letter", "u" + id.String()[1:], "no id has"},
		{"not ASCII", "é" + id.String()[2:], "no id has"},
		{"mistyped", swapLast(id), "check character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			_, err := ParseNodeID(tt.in)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), "node id"))        // names the field
			is.True(strings.Contains(err.Error(), tt.want))          // says what is wrong
			is.True(AsError(err).Data.Remedy != "")                  // says what to do
			is.True(AsError(err).Is(ReasonMalformedID))              // has its reason
			is.True(new(NodeID).UnmarshalText([]byte(tt.in)) != nil) // nor on the wire
		})
	}
}

func swapLast(id NodeID) string {
	b := []byte(id)
	i := 1
	for b[i] == b[0] {
		i++
	}
	b[0], b[i] = b[i], b[0]
	return string(b)
}

package cluster

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"fulmen/daemon/api"
)

func FuzzKeyFile(f *testing.F) {
	f.Add([]byte("{}"))
	key := keyFile{Format: keyFormat, Seed: make([]byte, 32), CreatedAt: api.TimeOf(testTime())}
	key.Node = key.identity().Node
	good, err := key.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := decodeKeyFile(raw)
		if err != nil {
			return
		}
		if again, err := k.encode(); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%q reads and is written as %q", raw, again)
		}
	})
}

func FuzzRoster(f *testing.F) {
	raw, err := json.Marshal(testRoster(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	all, err := json.Marshal(testEntries(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r Roster
		if json.Unmarshal(raw, &r) != nil {
			return
		}
		for _, m := range r.Members() {
			if key, ok := r.PublicKey(m.Node); ok != (m.RemovedBy == "") || ok && api.NodeIDFromKey(key) != m.Node {
				t.Fatalf("%s is a member without its key", m.Node)
			}
		}
		if api.ClusterIDFromEntry(r.Log()[0].Raw) != r.Cluster() {
			t.Fatal("the cluster is not its first entry's")
		}
	})
}

func FuzzShortName(f *testing.F) {
	f.Add("Ada's Mac Studio (2)")
	f.Fuzz(func(t *testing.T, computer string) {
		got := ShortName(computer, testIdentity(1).Node)
		if got == "" || len(got) > MaxShortName || strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
			strings.Contains(got, "--") || strings.HasPrefix(got, "-") || strings.HasSuffix(got, "-") {
			t.Fatalf("%q became %q", computer, got)
		}
	})
}

//go:build cgo && linux && darwinsim

package simmac_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin/simmac"
)

var update = flag.Bool("update", false, "write the golden files again")

// trees are registries in the form of ioreg -a: own ones, and those of real Macs
// where there are recordings.
func trees(t testing.TB) map[string]*simmac.Node {
	t.Helper()
	files, err := filepath.Glob("testdata/*.plist")
	if err != nil || len(files) == 0 {
		t.Fatalf("no registries: %v", err)
	}
	if folder := os.Getenv("FULMEN_FIXTURES"); folder != "" {
		more, _ := filepath.Glob(filepath.Join(folder, "ioreg", "*.plist"))
		files = append(files, more...)
	}
	out := map[string]*simmac.Node{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			out[file], err = simmac.ParseIoreg(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// golden holds facts against a file beside an own tree; what real Macs said has
// none.
func golden(t *testing.T, file string, s native.Snapshot) {
	t.Helper()
	if filepath.Dir(file) != "testdata" {
		return
	}
	is := is.New(t)
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetIndent("", "  ")
	is.NoErr(encoder.Encode(map[string]any{"thunderbolt": s.Thunderbolt, "rdma": s.RDMA}))
	path := file[:len(file)-len(filepath.Ext(file))] + ".golden"
	if *update {
		is.NoErr(os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(got.String(), string(want))
}

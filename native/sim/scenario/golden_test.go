package scenario

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestShippedScenariosAreAsWritten keeps what each file means: one line for each
// thing, so that a change shows where it is.
func TestShippedScenariosAreAsWritten(t *testing.T) {
	for _, name := range Shipped() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s, err := Load(name)
			is.NoErr(err)
			compare(t, filepath.Join("testdata", name+".golden"), dump(t, s))
		})
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		var g, w string
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Fatalf("%s:%d differs (go test -update writes it anew)\n got %s\nwant %s", path, i+1, g, w)
		}
	}
}

// dump writes one JSON value a line.
func dump(t *testing.T, s Scenario) string {
	t.Helper()
	var out strings.Builder
	line := func(kind string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s\n", kind, text)
	}
	line("title", s.Title)
	for _, mac := range s.Macs {
		ports, interfaces, bridges := mac.Ports, mac.Interfaces, mac.Bridges
		mac.Ports, mac.Interfaces, mac.Bridges = nil, nil, nil
		line("mac", mac)
		dumpAll(line, "  port", ports)
		dumpAll(line, "  interface", interfaces)
		dumpAll(line, "  bridge", bridges)
	}
	dumpAll(line, "hub", s.Hubs)
	dumpAll(line, "network", s.Networks)
	for _, cable := range s.Cables {
		line("cable", fmt.Sprintf("%s %s %d/%d", cable.Ends[0], cable.Ends[1], cable.Speed.TxBitsPerS, cable.Speed.RxBitsPerS))
	}
	dumpAll(line, "gpu", s.Measurements.GPUs)
	dumpAll(line, "link", s.Measurements.Links)
	for _, event := range s.TimeLine {
		line("at", event.After.String()+" "+event.Op.String())
	}
	dumpAll(line, "note", s.Notes)
	return out.String()
}

func dumpAll[T any](line func(string, any), kind string, values []T) {
	for _, value := range values {
		line(kind, value)
	}
}
